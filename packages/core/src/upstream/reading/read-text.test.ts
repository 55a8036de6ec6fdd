import { expect, it } from 'vitest'
import { type Awaited, OpenRequests } from './open-requests.ts'
import { readText } from './read-text.ts'

const open = (methods: Record<number, string>, isExchange = false): Awaited => ({
  methodOf: (id) => methods[Number(id)],
  isAsked: () => false,
  wasAsked: (id) => Number.isInteger(id) && (id as number) <= 6,
  only: () => (Object.keys(methods).length === 1 ? Number(Object.keys(methods)[0]) : undefined),
  unnamed() {
    return this.only()
  },
  isExchange,
})
const calls = open({ 5: 'tools/call' })
const reply = { jsonrpc: '2.0', id: 5, result: { content: [] } }
const text = JSON.stringify(reply)
const read = (line: string, requests = calls) => {
  const dropped: string[] = []
  return { ...readText(line, requests, (what) => dropped.push(what)), dropped }
}

it.each([
  ['log text in front of it', `INFO tool ran {"x": 1} ${text}`],
  ['log text behind it', `${text} done`],
  ['an escape sequence in front of it', `\u001B[0m\u001B]0;title\u0007${text}`],
  ['line breaks in it', JSON.stringify(reply, undefined, 2)],
  ['its id as a text', text.replace('5', '"5"')],
  ['a missing version', text.replace('"jsonrpc":"2.0",', '')],
  ['a version that is a number', text.replace('"2.0"', '2.0')],
  ['an error of null', text.replace('}}', '},"error":null}').replace('}},', '},')],
  ['nulls beside it', JSON.stringify({ ...reply, error: null, method: null, params: null })],
  ['a `_meta` of null', JSON.stringify({ ...reply, result: { content: [], _meta: null } })],
  ['its method', JSON.stringify({ ...reply, method: 'tools/call', params: { name: 'x' } })],
  ['an empty method', JSON.stringify({ ...reply, method: '' })],
  ['JSON around its JSON', JSON.stringify(text)],
  ['a list of lists around it', `[[${text}]]`],
  ['its content alone', JSON.stringify({ ...reply, result: [] })],
])('the reader takes a reply with %s', (_what, line) => {
  expect(read(line).messages).toEqual([reply])
})

it('the reader takes a raw line break in a string as one', () => {
  const line = '{"jsonrpc":"2.0","id":5,"result":{"content":[{"text":"a\nb\tc"}]}}'
  expect(read(line).messages).toEqual([{ ...reply, result: { content: [{ text: 'a\nb\tc' }] } }])
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

it('the reader gives what stands beside an error to its reader', () => {
  const error = { code: 1, message: 'no' }
  expect(read(JSON.stringify({ ...reply, error, hint: 'b' })).messages).toEqual([
    { jsonrpc: '2.0', id: 5, error: { ...error, data: { hint: 'b' } } },
  ])
})

it('the reader takes an error, whatever result stands beside it', () => {
  const error = { code: -32_000, message: 'disk full' }
  expect(read(JSON.stringify({ ...reply, error })).messages).toEqual([{ jsonrpc: '2.0', id: 5, error }])
})

it.each([
  ['a text', 'disk full', { code: -32_603, message: 'disk full' }],
  ['a code that is a text', { code: '-32602', message: 'no' }, { code: -32_602, message: 'no' }],
  ['a code that is a word', { code: 'NO_DISK', message: 'full' }, { code: -32_603, message: 'NO_DISK: full' }],
  ['a code beyond all integers', { code: 1e99, message: 'no' }, { code: -32_603, message: '1e+99: no' }],
  ['other fields only', { detail: 'disk full' }, { code: -32_603, message: 'disk full' }],
  ['fields of its own', { code: 1, message: 'no', hint: 'b' }, { code: 1, message: 'no', data: { hint: 'b' } }],
  [
    'fields of its own beside its data',
    { code: 1, message: 'no', hint: 'b', data: [7], cause: null },
    { code: 1, message: 'no', data: { data: [7], hint: 'b' } },
  ],
  ['no words', {}, { code: -32_603, message: 'no reason given' }],
])('the reader takes an error that is %s', (_what, error, expected) => {
  expect(read(JSON.stringify({ jsonrpc: '2.0', id: 5, error })).messages).toEqual([
    { jsonrpc: '2.0', id: 5, error: expected },
  ])
})

it('the reader takes the words beside an error that has none of its own', () => {
  const [message] = read('{"jsonrpc":"2.0","id":5,"error":true,"message":"disk full"}').messages
  expect(message).toMatchObject({ error: { message: 'disk full' } })
})

it.each([{}, { code: null, message: null }, { code: 0, message: null, data: {} }, { message: '' }])(
  'the reader takes a result with the error %j, in which nothing is said',
  (error) => {
    expect(read(JSON.stringify({ ...reply, error })).messages).toEqual([reply])
  },
)

it('the reader takes a value in place of a text of a result', () => {
  const blocks = [
    { type: 'text', text: 7, annotations: {} },
    { type: 'text', text: false },
  ]
  const [message] = read(JSON.stringify({ ...reply, result: { content: blocks } })).messages
  const texts = ['7', 'false'].map((one, at) => ({ ...blocks[at], text: one }))
  expect(message).toEqual({ ...reply, result: { content: texts } })
})

it('the reader fails a request that the server cancels, and none where that may be a request of its own', () => {
  const requests = new OpenRequests()
  for (const id of [5, 6]) requests.sent({ jsonrpc: '2.0', id, method: 'tools/call' })
  requests.received({ jsonrpc: '2.0', id: 6, method: 'roots/list' })
  const cancel = (requestId: unknown) =>
    read(
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason: 'stop' } }),
      requests,
    ).doubtful
  expect(cancel('5')).toMatchObject([{ id: '5', error: { message: 'it cancelled the request: stop' } }])
  for (const other of [6, 7, null]) expect(cancel(other)).toEqual([])
})

it('the reader gives a text that stands in place of a result of a call to its reader', () => {
  const { messages } = read('{"jsonrpc":"2.0","id":5,"result":"saved"}')
  expect(messages).toEqual([{ ...reply, result: { content: [{ type: 'text', text: 'saved' }] } }])
})

it('the reader takes an object of the server in place of the result of a call for its content', () => {
  const result = (given: object) => read(JSON.stringify({ ...reply, result: given })).messages[0]
  expect(result({ rows: 3 })).toMatchObject({ result: { content: [], structuredContent: { rows: 3 } } })
  expect(result({ isError: true, error: 'disk full' })).toMatchObject({
    result: { isError: true, structuredContent: { error: 'disk full' } },
  })
  expect(result([1, 2])).toMatchObject({ result: { content: [], structuredContent: [1, 2] } })
  const failed = { content: [{ type: 'text', text: 'got 1' }], isError: true }
  for (const inside of [{ toolResult: failed }, { result: failed }])
    expect(result(inside)).toEqual({ ...reply, result: failed })
  expect(result({ result: { content: failed.content }, isError: true })).toEqual({ ...reply, result: failed })
  for (const content of ['a', ['a']])
    expect(result({ result: { content } })).toMatchObject({ result: { structuredContent: { result: { content } } } })
  for (const other of [{}, { isError: true }, { _meta: {} }, { task: {} }, { content: [], rows: 3 }])
    expect(result(other)).toEqual({ ...reply, result: other })
})

it('the reader takes a result with a block that is an error for one', () => {
  const answer = (...content: object[]) => read(JSON.stringify({ ...reply, result: { content } })).messages[0]
  for (const more of [{ text: 'disk full' }, { message: 'disk full' }])
    expect(answer({ type: 'error', ...more }, { type: 'audio' })).toEqual({
      ...reply,
      result: { isError: true, content: [{ type: 'text', text: 'disk full' }, { type: 'audio' }] },
    })
})

it.each<[unknown, object]>([
  ['maybe', { isError: true, content: ['got 1', 'maybe'] }],
  [{ why: 'disk full' }, { isError: true, content: ['got 1', 'why: disk full'] }],
  [2, { isError: true, content: ['got 1', '2'] }],
  ['True', { isError: true, content: ['got 1'] }],
  ['no', { isError: false, content: ['got 1'] }],
  [[], { isError: false, content: ['got 1'] }],
])(
  'the reader takes the isError %j as what it means, and keeps its words',
  (isError, { content, ...expected }: any) => {
    const block = (one: string) => ({ type: 'text', text: one })
    const [message] = read(JSON.stringify({ ...reply, result: { content: [block('got 1')], isError } })).messages
    const result = { ...expected, content: content.map(block), _meta: { 'sandbridge/isError': isError } }
    expect(message).toEqual({ ...reply, result })
  },
)

it('the reader takes the fields of a result in snake case', () => {
  const result = (given: unknown) => read(JSON.stringify({ ...reply, result: given })).messages[0]
  expect(result({ content: [], structured_content: { a: 1 }, is_error: true })).toEqual({
    ...reply,
    result: { content: [], structuredContent: { a: 1 }, isError: true },
  })
  expect(result({ is_error: true, why: 'disk full' })).toMatchObject({
    result: { isError: true, structuredContent: { why: 'disk full' } },
  })
})

it('the reader takes a result that is encoded twice', () => {
  const line = JSON.stringify({ ...reply, result: '{"tools":[]}' })
  expect(read(line, open({ 5: 'tools/list' })).messages).toEqual([{ ...reply, result: { tools: [] } }])
})

it('the reader says what it left out', () => {
  const { messages, dropped } = read(JSON.stringify({ ...reply, result: { content: [], _meta: 7 }, took: 3 }))
  expect(messages).toEqual([reply])
  expect(dropped).toEqual(['`_meta` of tools/call is a number', 'a reply to tools/call has `took` beside its result'])
})

const unreadable = (message: string) => [{ jsonrpc: '2.0', id: 5, error: { code: -32_066, message } }]

it.each([
  ['NaN', '{"jsonrpc":"2.0","id":5,"result":{"x":NaN}}', 'it is not JSON, which has no NaN'],
  ['a Python dict', "{'jsonrpc': '2.0', 'id': 5, 'result': {}}", 'it is not JSON'],
  ['a line cut early', '{"jsonrpc":"2.0","id":5,"res', 'it is not JSON'],
  ['a cut line', '{"jsonrpc":"2.0","id":5,"result":{"content":[{"te', 'it is not JSON'],
  ['no result', '{"jsonrpc":"2.0","id":5}', 'it has no result and no error'],
  ['no id', '{"jsonrpc":"2.0","id":null,"result":{}}', 'it has no id'],
  ['an empty id', '{"jsonrpc":"2.0","id":"","result":{}}', 'it has no id'],
  ['an id of no request', '{"jsonrpc":"2.0","id":77,"result":{}}', 'no request has its id'],
  ['an id that is a list', '{"jsonrpc":"2.0","id":[5],"result":{}}', 'no request has its id'],
])('the reader fails the call with the line quoted: %s', (_what, line, why) => {
  expect(read(line)).toMatchObject({ messages: [], doubtful: unreadable(`${why}: ${line}`) })
})

it('the reader waits where a reply may be a late one, or one to another request', () => {
  const late = '{"jsonrpc":"2.0","id":4,"result":{}}'
  expect(read(late)).toMatchObject({ messages: [{ id: 4 }], doubtful: [] })
  const other = late.replace('4', '77')
  expect(read(other, open({ 5: 'tools/call', 6: 'tools/call' }))).toMatchObject({
    messages: [{ id: 77 }],
    doubtful: [],
  })
})

it('the reader fails a request with a result that the earlier request of its id cannot have', () => {
  const requests = new OpenRequests()
  requests.sent({ jsonrpc: '2.0', id: 0, method: 'tools/list' })
  requests.received({ jsonrpc: '2.0', id: 0, result: { tools: [] } })
  requests.sent({ jsonrpc: '2.0', id: 1_000_000_001, method: 'tools/call' })
  const answer = (id: number, result: object) => read(JSON.stringify({ jsonrpc: '2.0', id, result }), requests)
  expect(answer(0, { content: [] }).doubtful).toMatchObject([{ id: 1_000_000_001 }])
  expect(answer(77, { content: [] }).doubtful).toMatchObject([{ id: 1_000_000_001 }])
  expect(answer(0, { tools: [] })).toMatchObject({ messages: [{ id: 0 }], doubtful: [] })
})

it('the reader gives an error of an answered request to the only open one, and none of a cancelled request', () => {
  const requests = new OpenRequests()
  const call = { jsonrpc: '2.0', method: 'tools/call' } as const
  for (const id of [1, 2]) requests.sent({ ...call, id })
  requests.received({ jsonrpc: '2.0', id: 1, result: {} })
  requests.sent({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } })
  requests.sent({ ...call, id: 3 })
  const failed = (id: number) =>
    read(JSON.stringify({ ...reply, id, result: undefined, error: { code: 1, message: 'no' } }), requests)
  expect(failed(1)).toMatchObject({ messages: [], doubtful: [{ id: 3, error: { message: 'no' } }] })
  expect(failed(2)).toMatchObject({ messages: [{ id: 2 }], doubtful: [] })
  requests.sent({ ...call, id: 4 })
  expect(failed(1)).toMatchObject({ messages: [{ id: 1 }], doubtful: [] })
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

it('the reader gives an error with an id of no request to the only request that is open', () => {
  const line = '{"jsonrpc":"2.0","id":"server-error","error":{"code":-1,"message":"disk full"}}'
  const error = { code: -1, message: 'disk full' }
  expect(read(line)).toMatchObject({ messages: [], doubtful: [{ id: 5, error }] })
})

it.each([{ error: { code: -32_601, message: 'Method not found' } }, { result: null }])(
  'the reader takes %j without an id, behind a notification, for an answer to that',
  (answer) => {
    const requests = new OpenRequests()
    requests.sent({ jsonrpc: '2.0', id: 0, method: 'initialize' })
    requests.received({ jsonrpc: '2.0', id: 0, result: {} })
    requests.sent({ jsonrpc: '2.0', method: 'notifications/initialized' })
    requests.sent({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const line = JSON.stringify({ jsonrpc: '2.0', id: null, ...answer })
    expect(read(line, requests)).toMatchObject({ messages: [], doubtful: [] })
    expect(read(line, requests)).toMatchObject({ messages: [], doubtful: [{ id: 1 }] })
  },
)

it('the reader takes a result without an id where it can belong to one request only', () => {
  const line = '{"jsonrpc":"2.0","id":null,"result":{"content":[]}}'
  expect(read(line, open({ 5: 'tools/call' }, true)).messages).toEqual([reply])
})

it.each([
  ['prose', 'Listening on port 5'],
  ['a line of a log with a result', '{"level":"info","id":5,"result":"ok","msg":"tool ran"}'],
  ['a line of a log in JSON', '{"level":"info","msg":"tool ran","id":5}'],
  ['the request, in a log', 'received {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"result":1}}'],
  ['the request, cut', '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"x","result":'],
  ['a reply to another request, in a log', 'sent {"jsonrpc":"2.0","id":9,"result":{}}'],
  ['a line of a log with an error', '{"level":"error","id":"a-7","error":"disk slow"}'],
  ['a value', '42'],
  ['nothing', '[]'],
])('the reader takes no message from %s', (_what, line) => {
  expect(read(line)).toMatchObject({ messages: [], doubtful: [] })
})

it('the reader spends time in proportion to the length of a text', () => {
  const long = `{"id":{"id":${'{"id":'.repeat(200_000)}`
  expect(read(long).messages).toEqual([])
})
