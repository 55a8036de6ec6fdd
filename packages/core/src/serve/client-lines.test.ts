import { describe, expect, it } from 'vitest'
import { parseJSONRPCMessage } from '@modelcontextprotocol/server'
import { OpenRequests } from '../upstream/reading/open-requests.ts'
import { ClientLines } from './client-lines.ts'
import { parseExact } from '../util/json/parse-exact.ts'
import { lineOf, type Refusal, toClientMessage } from './client-message.ts'

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }
const NOTE = { jsonrpc: '2.0', method: 'notifications/initialized' }
const open = new OpenRequests()
const initialize = (protocolVersion?: unknown) => ({ ...PING, method: 'initialize', params: { protocolVersion } })
const refused = (id: unknown, code = -32_600, message = /./) =>
  expect.objectContaining({ id, error: { code, message: expect.stringMatching(message) } })

/** What a bridge reads from these lines, and what it answers. */
async function read(...lines: unknown[]) {
  return readAs('utf8', lines)
}

async function readAs(encoding: BufferEncoding, lines: unknown[]) {
  const values: unknown[] = []
  const refusals: Refusal[] = []
  const reader = new ClientLines({
    onValue: (value, source) => {
      expect(JSON.parse(source.toString())).toEqual(value)
      values.push(value)
    },
    onRefusal: (one) => refusals.push(one),
    open,
  })
  for (const line of lines) reader.push(Buffer.from(typeof line === 'string' ? line : JSON.stringify(line), encoding))
  // A message over several lines is waited for.
  if (values.length + refusals.length === 0) await expect.poll(() => values.length + refusals.length).toBeGreaterThan(0)
  return { values, refusals }
}

it.each([
  ['a byte order mark', [`\u{FEFF}${JSON.stringify(PING)}`], [PING]],
  ['white space around it', [` ${JSON.stringify(PING)}\t `], [PING]],
  ['a second message behind the first', [`${JSON.stringify(PING)} ${JSON.stringify(NOTE)}`], [PING, NOTE]],
  ['a tab in a string', ['{"id":1,"method":"a\tb"}'], [{ id: 1, method: 'a\tb' }]],
  ['a message over several lines', JSON.stringify(PING, undefined, 2).split('\n'), [PING]],
  ['a message that is cut, and another one', ['{"jsonrpc":"2.0",', JSON.stringify(PING)], [PING]],
])('the reader reads one with %s', async (_what, lines, expected) => {
  expect((await read(...lines)).values).toEqual(expected)
})

it.each([
  ['no JSON', 'hello', null],
  ['a request that is cut', '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"na', 7],
  ['a request with its id behind', '{"jsonrpc":"2.0","method":"ping","id":"a\\"b","params":{"na', 'a"b'],
  ['NaN', '{"jsonrpc":"2.0","method":"tools/call","params":{"x":NaN},"id":7}', 7],
  ['a Python dict', "{'jsonrpc': '2.0', 'id': 7, 'method': 'ping'}", 7],
  ['an id that may be of something inside', '{"method":"x","params":{"y":NaN,"id":7}', null],
  ['a response that answers nothing', '{"jsonrpc":"2.0","id":7,"result":{"x":NaN}}', null],
  ['text behind a message', `${JSON.stringify(PING)} hello`, null],
])('the reader answers what it cannot read, and says what that was: %s', async (_what, line, id) => {
  const { refusals } = await read(line)
  expect(refusals).toEqual([refused(id, -32_700, /^Parse error: this is not JSON.*: /)])
})

it('the reader refuses bytes that are no UTF-8, which would become another text', async () => {
  const line = { ...PING, method: 'é' }
  expect(await readAs('latin1', [line])).toEqual({ values: [], refusals: [refused(1, -32_700, /not UTF-8: /)] })
  expect((await read(line)).values).toEqual([line])
})

it('the reader refuses a message that what reads it could not follow, on one line or on several', async () => {
  const nested = (depth: number) => `{"id":7,"method":"x","params":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`
  const deep = refused(7, -32_600, /has lists and objects nested more than 1000 deep/)
  expect((await read(nested(20_000))).refusals).toEqual([deep])
  expect((await read(...nested(5_000).replace('"params"', '\n$&').split('\n'))).refusals).toHaveLength(1)
  expect((await read(nested(900))).values).toHaveLength(1)
  const wide = (parts: number) => `{"id":7,"method":"x","params":{"_meta":[${'1,'.repeat(parts)}1]}}`
  expect((await read(wide(100_000))).refusals).toEqual([refused(7, -32_600, /more than 100000 of the characters/)])
  expect((await read(wide(90_000))).values).toHaveLength(1)
})

it('the reader reads what stands before the text that it cannot read', async () => {
  expect((await read(`${JSON.stringify(PING)} hello`)).values).toEqual([PING])
})

it('a response that cannot be read fails the question that it answers', async () => {
  open.sent({ jsonrpc: '2.0', id: 0, method: 'elicitation/create', params: {} })
  const { values, refusals } = await read('{"jsonrpc":"2.0","id":0,"result":{"x":NaN}}')
  open.over(0)
  expect(refusals).toEqual([])
  expect(values).toMatchObject([{ id: 0, error: { code: -32_066 } }])
})

it('the reader takes it apart in the only revision that has batches', async () => {
  expect((await read(initialize('2025-03-26'), [PING, NOTE, 1])).values.slice(1)).toEqual([PING, NOTE, 1])
  expect((await read(initialize('2025-03-26'), [])).refusals).toEqual([refused(null)])
})

it('the reader refuses each of its requests in a revision that has none', async () => {
  const both = [PING, NOTE, { ...PING, id: 'b' }]
  expect((await read(both)).refusals).toEqual([refused(1), refused('b')])
  expect((await read(initialize(), [NOTE, { ...PING, id: null }])).refusals).toEqual([refused(null)])
})

describe('a request', () => {
  const message = (value: unknown) => {
    const dropped: string[] = []
    const found = toClientMessage(value, open, (what) => dropped.push(what))
    // What the reader lets through is a message for the MCP package as well.
    if (found.message) parseJSONRPCMessage(found.message)
    return { ...found, dropped }
  }

  it.each([
    ['params', { params: null }, {}],
    ['params, as PHP writes them', { params: [] }, {}],
    ['a result and an error', { result: null, error: null }, {}],
    ['the version', { jsonrpc: null }, {}],
    ['a cursor and meta data', { params: { cursor: null, _meta: null } }, { params: {} }],
    ['a cursor that is 0', { params: { cursor: 0 } }, { params: {} }],
    ['a cursor that is a number', { params: { cursor: 7 } }, { params: { cursor: '7' } }],
    ['a progress token', { params: { _meta: { progressToken: null, a: 1 } } }, { params: { _meta: { a: 1 } } }],
    ['a task', { params: { task: { ttl: null } } }, { params: { task: {} } }],
    ['arguments', { params: { name: 'x', arguments: null } }, { params: { name: 'x' } }],
    ['arguments, as PHP writes them', { params: { name: 'x', arguments: [] } }, { params: { name: 'x' } }],
  ])('the reader takes null for missing: %s', (_what, change, expected) => {
    expect(message({ ...PING, ...change })).toEqual({ message: { ...PING, ...expected }, dropped: [] })
  })

  it('the reader leaves null in arguments, which are for the tool', () => {
    const call = { ...PING, method: 'tools/call', params: { name: 'x', arguments: { a: null } } }
    expect(message(call).message).toBe(call)
  })

  it('the reader takes arguments that the client encoded twice', () => {
    const params = { name: 'x', arguments: '{"code": "1"}' }
    const meant = { params: { name: 'x', arguments: { code: '1' } } }
    expect(message({ ...PING, params }).message).toMatchObject(meant)
    // As Docker's command line sends them.
    const asName = { name: 'x', arguments: { '{"code": "1"}': null } }
    expect(message({ ...PING, params: asName }).message).toMatchObject(meant)
  })

  it('the reader takes the arguments of a prompt as texts', () => {
    const params = { name: 'x', arguments: { week: 3, title: 'a', tags: ['b'], none: null } }
    expect(message({ ...PING, method: 'prompts/get', params }).message).toMatchObject({
      params: { arguments: { week: '3', title: 'a', tags: '["b"]' } },
    })
  })

  it('the reader drops what it does not know, and says so', () => {
    const { message: kept, dropped } = message({ ...PING, sender: 'x', params: { _meta: { progressToken: {} } } })
    expect(kept).toEqual({ ...PING, params: { _meta: {} } })
    expect(dropped).toEqual(['the progress token, which is an object, of ping', '`sender` beside the params of ping'])
  })

  it('a request may have an id of any length', () => {
    const long = { ...PING, id: 'x'.repeat(5_000) }
    expect(message(long).message).toBe(long)
  })

  it('a cancellation counts whatever its reason is, and a client of the newer era may name no abilities', () => {
    const cancelled = { ...NOTE, method: 'notifications/cancelled', params: { requestId: 1, reason: { a: 1 } } }
    expect(message(cancelled).message).toMatchObject({ params: { requestId: 1, reason: '{"a":1}' } })
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
    const meant = { params: { _meta: { ..._meta, 'io.modelcontextprotocol/clientCapabilities': {} } } }
    expect(message({ ...PING, params: { _meta } }).message).toMatchObject(meant)
  })

  it('a notification may have the id null', () => {
    expect(message({ ...NOTE, id: null })).toEqual({ message: NOTE, dropped: [] })
  })

  it.each([
    [{ ...PING, params: { arguments: '{"code' } }, 1, /`arguments` is an object, not a text: .*code/],
    [{ ...PING, id: {} }, null, /an id is a text or a whole number, not an object: \{\}$/],
    [{ ...PING, id: 1.5 }, 1.5, /not a number: 1.5/],
    [{ ...PING, id: true }, null, /not true/],
    [{ ...PING, id: null }, null, /not null/],
    [{ ...PING, method: 5 }, 1, /a method is a text, not a number: 5/],
    [{ ...PING, params: [5] }, 1, /`params` is an object, not a list/],
    [{ jsonrpc: '2.0', id: 'x' }, 'x', /it has no method/],
    ['x', null, /a message is an object, not a text/],
    [null, null, /not null/],
  ])('the reader refuses %j and says why', (value, id, why) => {
    expect(message(value)).toMatchObject({ refusal: refused(id, -32_600, why), dropped: [] })
  })

  it.each(['9007199254740993', '-18446744073709551616', '1000000000000000000000000000000'])(
    'a number of the client beyond 2^53 goes back to it as it came: %s',
    (number) => {
      const sent = `{"jsonrpc":"2.0","id":${number},"method":"tools/call","params":{"name":"x","arguments":{"n":${number}},"_meta":{"progressToken":${number}}}}`
      const found = message(parseExact(sent)).message as unknown as { id: unknown; params: { _meta: object } }
      expect(lineOf({ jsonrpc: '2.0', id: found.id, result: {} })).toBe(`{"jsonrpc":"2.0","id":${number},"result":{}}`)
      expect(lineOf(found.params._meta)).toBe(`{"progressToken":${number}}`)
      expect(lineOf(found)).toBe(sent)
      const cancelled = message({
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: BigInt(number) },
      })
      expect(cancelled.message).toMatchObject({ params: { requestId: found.id } })
    },
  )

  it('the reader answers no response, however it is formed', () => {
    for (const one of [
      { id: 9, result: null },
      { id: 9, error: {} },
      { ...PING, method: null, result: {} },
    ])
      expect(message(one)).not.toHaveProperty('refusal')
  })
})

describe('the first request of a client', () => {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'case', version: '1' } }
  const opened = (change: object) =>
    toClientMessage({ ...PING, method: 'initialize', params: { ...params, ...change } }, open, () => {}).message

  it.each([
    [{ capabilities: undefined }, {}],
    [{ capabilities: null }, {}],
    [{ capabilities: [] }, {}],
    [{ capabilities: true }, {}],
    [
      { capabilities: { roots: null, sampling: [], elicitation: { form: null, url: true } } },
      { capabilities: { sampling: {}, elicitation: { url: {} } } },
    ],
    [
      { capabilities: { roots: { listChanged: null }, experimental: { fast: true }, extensions: null, tasks: null } },
      { capabilities: { roots: {}, experimental: { fast: {} } } },
    ],
    [
      { capabilities: { elicitation: { form: { applyDefaults: null } } } },
      { capabilities: { elicitation: { form: {} } } },
    ],
    [{ clientInfo: null }, { clientInfo: { name: '', version: '' } }],
    [{ clientInfo: { name: null, version: 1, title: null, icons: null } }, { clientInfo: { name: '', version: '1' } }],
    [{ protocolVersion: null }, { protocolVersion: '2025-11-25' }],
    [{ protocolVersion: undefined, _meta: null }, { protocolVersion: '2025-11-25' }],
  ])('the reader reads it with %j', (change, expected) => {
    const message = opened(change)
    expect(message).toEqual({ ...PING, method: 'initialize', params: { ...params, ...expected } })
    parseJSONRPCMessage(message)
  })

  it.each([{}, { params: null }, { params: [] }])('the reader reads it without params: %j', (given) => {
    expect(toClientMessage({ ...PING, method: 'initialize', ...given }, open, () => {}).message).toMatchObject({
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} },
    })
  })

  it('the reader reads alike what a client of the newer era states in each request', () => {
    const [info, capabilities] = ['clientInfo', 'clientCapabilities'].map((name) => `io.modelcontextprotocol/${name}`)
    const request = {
      ...PING,
      params: { _meta: { [info!]: { name: 'x', version: 2 }, [capabilities!]: { roots: true, sampling: null } } },
    }
    expect(toClientMessage(request, open, () => {}).message).toMatchObject({
      params: { _meta: { [info!]: { name: 'x', version: '2' }, [capabilities!]: { roots: {} } } },
    })
  })
})
