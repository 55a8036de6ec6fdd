import { describe, expect, it } from 'vitest'
import type { Awaited } from './open-requests.ts'
import { readText } from './read-text.ts'

const open = (methods: Record<number, string>, isExchange = false): Awaited => ({
  methodOf: (id) => methods[Number(id)],
  only: () => (Object.keys(methods).length === 1 ? Number(Object.keys(methods)[0]) : undefined),
  isExchange,
})
const calls = open({ 5: 'tools/call' })
const reply = { jsonrpc: '2.0', id: 5, result: { content: [] } }
const text = JSON.stringify(reply)
const read = (line: string, requests = calls) => {
  const dropped: string[] = []
  return { ...readText(line, requests, (what) => dropped.push(what)), dropped }
}

describe('a reply whose meaning is certain', () => {
  it.each([
    ['log text in front of it', `INFO tool ran {"x": 1} ${text}`],
    ['log text behind it', `${text} done`],
    ['an escape sequence in front of it', `\u001B[0m\u001B]0;title\u0007${text}`],
    ['line breaks in it', JSON.stringify(reply, undefined, 2)],
    ['a missing version', text.replace('"jsonrpc":"2.0",', '')],
    ['a version that is a number', text.replace('"2.0"', '2.0')],
    ['an error of null', text.replace('}}', '},"error":null}').replace('}},', '},')],
    ['nulls beside it', JSON.stringify({ ...reply, error: null, method: null, params: null })],
    ['a `_meta` of null', JSON.stringify({ ...reply, result: { content: [], _meta: null } })],
    ['its content alone', JSON.stringify({ ...reply, result: [] })],
  ])('the reader takes a reply with %s', (_what, line) => {
    expect(read(line).messages).toEqual([reply])
  })

  it('the reader takes a raw line break in a string as one', () => {
    const line = '{"jsonrpc":"2.0","id":5,"result":{"text":"a\nb\tc"}}'
    expect(read(line).messages).toEqual([{ ...reply, result: { text: 'a\nb\tc' } }])
  })

  it('the reader returns the value itself of a reply that needs no change', () => {
    expect(read(text)).toMatchObject({ isAsSent: true, hasMore: false, doubtful: [], dropped: [] })
  })

  it('the reader takes each of several messages on a line', () => {
    const notice = { jsonrpc: '2.0', method: 'notifications/message', params: {} }
    expect(read(`${JSON.stringify(notice)}${text}`).messages).toEqual([notice, reply])
  })

  it.each([null, false, 0, '', [], { code: 0, message: '' }, { code: 0, message: '', data: null }])(
    'the reader takes the result beside the error %j, which says nothing',
    (error) => {
      expect(read(JSON.stringify({ ...reply, error })).messages).toEqual([reply])
    },
  )

  it('the reader takes an error, whatever result stands beside it', () => {
    const error = { code: -32_000, message: 'disk full' }
    expect(read(JSON.stringify({ ...reply, error })).messages).toEqual([{ jsonrpc: '2.0', id: 5, error }])
  })

  it.each([
    ['a text', 'disk full', { code: -32_603, message: 'disk full' }],
    ['a code that is a text', { code: '-32602', message: 'no' }, { code: -32_602, message: 'no' }],
    ['a code that is a word', { code: 'NO_DISK', message: 'full' }, { code: -32_603, message: 'NO_DISK: full' }],
    ['other fields only', { detail: 'disk full' }, { code: -32_603, message: 'disk full' }],
    ['no words', {}, { code: -32_603, message: 'no reason given' }],
  ])('the reader takes an error that is %s', (_what, error, expected) => {
    expect(read(JSON.stringify({ jsonrpc: '2.0', id: 5, error })).messages).toEqual([
      { jsonrpc: '2.0', id: 5, error: expected },
    ])
  })

  it('the reader gives a text that stands in place of a result of a call to its reader', () => {
    const { messages } = read('{"jsonrpc":"2.0","id":5,"result":"saved"}')
    expect(messages).toEqual([{ ...reply, result: { content: [{ type: 'text', text: 'saved' }] } }])
  })

  it('the reader says what it left out', () => {
    const { messages, dropped } = read(JSON.stringify({ ...reply, result: { content: [], _meta: 7 }, took: 3 }))
    expect(messages).toEqual([reply])
    expect(dropped).toEqual(['`_meta` of tools/call is a number', 'a reply to tools/call has `took` beside its result'])
  })
})

describe('a reply that cannot be read', () => {
  const unreadable = (message: string) => [{ jsonrpc: '2.0', id: 5, error: { code: -32_066, message } }]

  it.each([
    ['NaN', '{"jsonrpc":"2.0","id":5,"result":{"x":NaN}}', 'it is not JSON, which has no NaN'],
    ['a Python dict', "{'jsonrpc': '2.0', 'id': 5, 'result': {}}", 'it is not JSON'],
    ['a line cut early', '{"jsonrpc":"2.0","id":5,"res', 'it is not JSON'],
    ['a cut line', '{"jsonrpc":"2.0","id":5,"result":{"content":[{"te', 'it is not JSON'],
    ['no result', '{"jsonrpc":"2.0","id":5}', 'it has no result and no error'],
    ['no id', '{"jsonrpc":"2.0","id":null,"result":{}}', 'it has no id'],
  ])('the reader fails the call with the line quoted: %s', (_what, line, why) => {
    expect(read(line)).toMatchObject({ messages: [], doubtful: unreadable(`${why}: ${line}`) })
  })

  it('the reader names what is no result', () => {
    expect(read('{"jsonrpc":"2.0","id":5,"result":42}').doubtful).toEqual(
      unreadable('`result` of tools/call is a number: 42'),
    )
  })

  it('the reader gives an error without an id to the only request that is open', () => {
    const line = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}'
    const [error] = read(line).doubtful
    expect(error).toMatchObject({ id: 5, error: { message: 'Parse error' } })
    expect(read(line, open({ 5: 'tools/call', 6: 'tools/call' }))).toMatchObject({ messages: [], doubtful: [] })
    expect(read('{"error":"Session not found"}').doubtful).toMatchObject([{ id: 5 }])
  })

  it('the reader takes a result without an id where it can belong to one request only', () => {
    const line = '{"jsonrpc":"2.0","id":null,"result":{"content":[]}}'
    expect(read(line, open({ 5: 'tools/call' }, true)).messages).toEqual([reply])
  })
})

describe('other text', () => {
  it.each([
    ['prose', 'Listening on port 5'],
    ['a line of a log in JSON', '{"level":"info","msg":"tool ran","id":5}'],
    ['the request, in a log', 'received {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"result":1}}'],
    ['the request, cut', '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"x","result":'],
    ['a reply to another request, in a log', 'sent {"jsonrpc":"2.0","id":9,"result":{}}'],
    ['a value', '42'],
    ['nothing', '[]'],
  ])('the reader takes no message from %s', (_what, line) => {
    expect(read(line)).toMatchObject({ messages: [], doubtful: [] })
  })

  it('the reader spends time in proportion to the length of a text', () => {
    const long = `{"id":{"id":${'{"id":'.repeat(200_000)}`
    expect(read(long).messages).toEqual([])
  })
})
