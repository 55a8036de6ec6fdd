// What published servers send that no schema allows: read as far as its meaning is certain, told where it is not.
import { expect, it } from 'vitest'
import { open, raw, textOf } from './support.ts'

const REPLY = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"got 1"}]}}'
const says = (texts: Record<string, string>) => open([raw('says', JSON.stringify(texts))])
const call = (text: string) => says({ 'tools/call': text }).callTool('says', 'x', {})

it.each([
  ['log text in front of it', `INFO: tool ran ${REPLY}`],
  ['an escape sequence in front of it', `\u001B[?25h${REPLY}`],
  ['another message on its line', `{"jsonrpc":"2.0","method":"notifications/message","params":{}}${REPLY}`],
  ['line breaks between its fields', JSON.stringify(JSON.parse(REPLY.replace('$ID', '"$ID"')), undefined, 2)],
  ['a line break in a string', REPLY.replace('got 1', 'got 1\n')],
  ['a missing version', REPLY.replace('"jsonrpc":"2.0",', '')],
  ['its id as a text', REPLY.replace('$ID', '"$ID"')],
  ['its id as a fraction', REPLY.replace('$ID', '$ID.0')],
  ['its id as the text of a fraction', REPLY.replace('$ID', '"$ID.0"')],
  ['no end of its line', `${REPLY}$OPEN`],
  ['no end of its line before it exits', `${REPLY}$EXIT`],
  ['a space in Latin 1', `${REPLY.replace('got 1', 'got 1\u00A0')}$LATIN1`],
  ['CR alone at its end', `${REPLY}\r$OPEN`],
])('a server that sends a reply with %s is understood', async (_what, text) => {
  expect(textOf(await call(text)).trim()).toBe('got 1')
})

it.each([
  ['NaN', REPLY.replace('"got 1"', 'NaN'), 'which has no NaN'],
  ['a Python dict', `{'jsonrpc': '2.0', 'id': $ID, 'result': {}}`, `it is not JSON: {'jsonrpc'`],
  ['a message that is cut off', REPLY.slice(0, 70), 'it is not JSON'],
  ['an id of no request', REPLY.replace('$ID', '1$ID7'), 'no request has its id: {"jsonrpc"'],
  ['an id that is a word', REPLY.replace('$ID', '"c-$ID"'), 'no request has its id: {"jsonrpc"'],
  ['a number', '{"jsonrpc":"2.0","id":$ID,"result":42}', '`result` of tools/call is a number: 42'],
])('a call that is answered with %s fails at once, with the line quoted', async (_what, text, words) => {
  await expect(call(text)).rejects.toMatchObject({
    code: 'UPSTREAM_PROTOCOL',
    message: expect.stringContaining(words),
  })
})

it('a call that is answered with an error without an id fails with its words', async () => {
  const text = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}'
  await expect(call(text)).rejects.toMatchObject({
    code: 'TOOL_FAILED',
    message: expect.stringContaining('Parse error'),
  })
})

it('an error without an id, or in a line of a log, is not taken for the reply where the reply follows', async () => {
  const refused = '{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}'
  expect(textOf(await call(`${refused}\n${REPLY}`))).toBe('got 1')
  expect(textOf(await call(`sending {'jsonrpc': '2.0', 'id': $ID, 'result': {}}\n${REPLY}`))).toBe('got 1')
  expect(textOf(await call(`{"level":"error","error":"cache miss","id":$ID}\n${REPLY}`))).toBe('got 1')
})

it('the data of an error is in its text, redacted, and for code', async () => {
  const error = { code: -32_603, message: 'Internal error', data: { detail: 'no repository topsecret', at: [7] } }
  const server = raw(
    'says',
    JSON.stringify({ 'tools/call': `{"jsonrpc":"2.0","id":$ID,"error":${JSON.stringify(error)}}` }),
  )
  const transport = { ...server.transport, env: { KEY: 'topsecret' } }
  const failure = await open([{ ...server, transport }])
    .callTool('says', 'x', {})
    .catch((e: unknown) => e)
  expect(failure).toMatchObject({
    message: "Server 'says' refused the call of 'x': Internal error: no repository [redacted], at: 7 (-32603)",
    data: { data: { detail: 'no repository [redacted]', at: [7] } },
  })
})

it.each([true, false])(
  'the key that a server quotes is redacted in a failed result only (isError: %s)',
  async (isError) => {
    const result = { content: [{ type: 'text', text: 'bad key topsecret' }], structuredContent: { n: 1 }, isError }
    const server = raw(
      'says',
      JSON.stringify({ 'tools/call': `{"jsonrpc":"2.0","id":$ID,"result":${JSON.stringify(result)}}` }),
    )
    const transport = { ...server.transport, env: { KEY: 'topsecret' } }
    const told = await open([{ ...server, transport }]).callTool('says', 'x', {})
    // A result is what the server answers: only words about a failure are changed.
    expect(textOf(told)).toBe(isError ? 'bad key [redacted]' : 'bad key topsecret')
    expect(told.structuredContent).toEqual({ n: 1 })
  },
)

it('the texts of a failed result are cut at a million characters, without a part of a key; those of others are not', async () => {
  for (const [isError, length] of [
    [true, 999_996],
    [false, 3_000_000],
  ] as const) {
    const start = `require('node:readline').createInterface(process.stdin).on('line', (line) => {
      const { id, method } = JSON.parse(line)
      const text = 'e'.repeat(999_990) + 'topsecret' + 'e'.repeat(2_000_001)
      const results = {
        initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
        'tools/call': { content: [{ type: 'text', text }, { type: 'text', text: 'short' }], isError: ${isError} },
      }
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }))
    })`
    const transport = {
      type: 'stdio' as const,
      command: process.execPath,
      args: ['-e', start],
      env: { KEY: 'topsecret' },
    }
    const told = await open([{ name: 'says', transport, source: { client: 'test', file: '' } }]).callTool(
      'says',
      'x',
      {},
    )
    const [long, short] = told.content as { type: string; text: string }[]
    expect([long!.text.length - Number(isError), short]).toEqual([length, { type: 'text', text: 'short' }])
    expect(long!.text.includes('tops')).toBe(!isError)
  }
})

it('a server whose initialize has flat names, and whose lists are bare, works', async () => {
  const flat = { protocolVersion: '2024-11-05', 'serverInfo.name': 's', 'capabilities.tools': true }
  const upstreams = says({
    initialize: `{"jsonrpc":"2.0","id":$ID,"result":${JSON.stringify(flat)}}`,
    'tools/list': '{"jsonrpc":"2.0","id":$ID,"result":[{"name":"weather"}]}',
  })
  expect((await upstreams.listTools('says')).map(({ name }) => name)).toEqual(['weather'])
})

it.each([{}, { capabilities: {} }, { protocol_version: '2025-06-18', server_info: { name: 's' } }])(
  'a server that answers initialize with %j, and lists in snake case, works',
  async (result) => {
    const tool = { name: 'weather', input_schema: { type: 'object', required: ['city'] } }
    const page = { tools: [tool], next_cursor: '2' }
    const upstreams = says({
      initialize: `{"jsonrpc":"2.0","id":$ID,"result":${JSON.stringify(result)}}`,
      'tools/list': `{"jsonrpc":"2.0","id":$ID,"result":${JSON.stringify(page)}}`,
    })
    expect(await upstreams.listTools('says')).toEqual([{ name: tool.name, inputSchema: tool.input_schema }])
    expect(upstreams.logged.filter((line) => line.includes('links to an earlier one'))).toHaveLength(1)
  },
)

it('a list that is none is named in words', async () => {
  const list = says({ 'tools/list': '{"jsonrpc":"2.0","id":$ID,"result":{"tools":"none"}}' }).listTools('says')
  await expect(list).rejects.toThrow('`tools` of tools/list is a text')
})

it('what was left out is logged once', async () => {
  const upstreams = says({ 'tools/call': REPLY.replace('"id"', '"took":3,"id"') })
  for (let i = 0; i < 3; i += 1) await upstreams.callTool('says', 'x', {})
  expect(upstreams.logged.filter((line) => line.includes('has `took` beside its result'))).toHaveLength(1)
})
