import fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeFrame } from '../../cell/protocol/codec.ts'
import { keepResultSource, sourceOf } from './source-json.ts'

/** Long enough for its JSON to be kept. */
const LONG = 'x'.repeat(300_000)
const RESULT = { content: [{ type: 'text', text: `"}\\${LONG}é\u2028\n` }] }

/** Processes a line as a transport does, and returns the result. */
function received(line: string | Buffer): unknown {
  const bytes = Buffer.from(line)
  const message = JSON.parse(bytes.toString()) as { result: unknown }
  keepResultSource(message, bytes)
  return message.result
}

const replied = (value: unknown) => JSON.parse(encodeFrame({ type: 'reply', id: 7, value }).toString()) as unknown

it.each([
  ['as the SDK for TypeScript writes it', { result: RESULT, jsonrpc: '2.0', id: 3 }],
  ['as the SDK for Python writes it', { jsonrpc: '2.0', id: 3, result: RESULT }],
  ['with a text as its id', { result: RESULT, jsonrpc: '2.0', id: 'a"b' }],
])('the JSON of a large result is kept, and becomes the reply: %s', (_, message) => {
  const result = received(JSON.stringify(message))
  expect(sourceOf(result)?.toString()).toBe(JSON.stringify(RESULT))
  expect(encodeFrame({ type: 'reply', id: 7, value: result }).toString()).toBe(
    `${JSON.stringify({ type: 'reply', id: 7, value: RESULT })}\n`,
  )
})

it.each([
  ['a member beside the result', `{"result":{"a":"${LONG}"},"z":"","jsonrpc":"2.0","id":3}`],
  ['another result before it', `{"result":{"a":1},"result":{"a":"${LONG}"},"jsonrpc":"2.0","id":3}`],
  ['an id before it', `{"jsonrpc":"2.0","id":3,"result":{"a":"${LONG}"},"id":3}`],
  ['space after it', `{"result":{"a":"${LONG}"} ,"jsonrpc":"2.0","id":3}`],
  ['another order', `{"id":3,"jsonrpc":"2.0","result":{"a":"${LONG}"}}`],
  ['a list for a result', `{"result":["${LONG}"],"jsonrpc":"2.0","id":3}`],
  ['little', `{"result":{"a":1},"jsonrpc":"2.0","id":3}`],
])('a line with %s keeps nothing, and its reply is written anew', (_, line) => {
  const result = received(line)
  expect(sourceOf(result)).toBeUndefined()
  expect(replied(result)).toEqual({ type: 'reply', id: 7, value: result })
})

it('a line with bytes that are no UTF-8 keeps nothing', () => {
  const line = Buffer.from(JSON.stringify({ result: { a: `${LONG}?` }, jsonrpc: '2.0', id: 3 }))
  line[line.lastIndexOf('?')] = 0xff
  expect(sourceOf(received(line))).toBeUndefined()
})

it('a copy of a result has no source, as it may have been changed', () => {
  const result = received(JSON.stringify({ result: RESULT, jsonrpc: '2.0', id: 3 })) as object
  expect(sourceOf({ ...result })).toBeUndefined()
})

it('whatever stands in the place of the result, the reply says what was parsed', () => {
  const before = fc.constantFrom('"id":1,', '"b":[1,{"c":"}"}],', String.raw`"c":"\"}",`)
  const after = fc.constantFrom(',"d":1', '}', '}', ',"z":{"a":[1]}', ',"id":9', ',"result":{"b":1}', ',"value":"}"')
  let parsed = 0
  fc.assert(
    fc.property(fc.array(before, { maxLength: 3 }), fc.array(after, { maxLength: 4 }), (first, last) => {
      const line = `{"result":{${first.join('')}"a":"${LONG}"${last.join('')},"jsonrpc":"2.0","id":3}`
      let result: unknown
      try {
        result = received(line)
      } catch {
        return
      }
      parsed += 1
      expect(replied(result)).toEqual({ type: 'reply', id: 7, value: result })
    }),
    { numRuns: 300 },
  )
  expect(parsed).toBeGreaterThan(30)
})
