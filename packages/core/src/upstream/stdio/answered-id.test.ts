import { expect, it } from 'vitest'
import { answeredId } from './stdio-transport.ts'

const ends = (line: string): number | undefined => answeredId(line.slice(0, 256), line.slice(-256))
const big = `"${'x'.repeat(1000)}"`

it.each([
  ['compact', `{"jsonrpc":"2.0","id":7,"result":${big}}`],
  ['with spaces', `{"jsonrpc": "2.0", "id": 7, "result": ${big}}`],
  ['with tabs and padding', ` {\t"jsonrpc" : "2.0" ,\t"id" : 7 , "error" : ${big} } `],
  ['id first', `{"id":7,"jsonrpc":"2.0","result":${big}}`],
  ['without a version', `{"id": 7, "result": ${big}}`],
  ['id last', `{"jsonrpc": "2.0", "result": ${big}, "id": 7}`],
  ['result first', `{"result": ${big}, "id": 7, "jsonrpc": "2.0"}`],
  ['with another id inside', `{"jsonrpc":"2.0","id":7,"result":{"a":${big},"id":8}}`],
])('the answered id is recognised: %s', (_, line) => {
  expect(ends(line)).toBe(7)
})

it.each([
  ['a request of the server', `{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":${big}}`],
  ['a request with its id last', `{"jsonrpc":"2.0","method":"sampling/createMessage","params":${big},"id":7}`],
  ['an id inside of the result', `{"jsonrpc":"2.0","result":{"a":${big},"id":7}}`],
  ['an id in a text', `{"jsonrpc":"2.0","result":"${'x'.repeat(1000)},\\"id\\":7}"}`],
  ['an id that is a text', `{"jsonrpc":"2.0","id":"7","result":${big}}`],
  ['no message', 'y'.repeat(1000)],
])('no answered id is found: %s', (_, line) => {
  expect(ends(line)).toBeUndefined()
})
