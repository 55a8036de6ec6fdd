// @module-tag whole: one bridge with all languages
// This file verifies that whole numbers beyond 2^53 pass every door of the bridge exactly, in and out.
import { spawn } from 'node:child_process'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bridgeEnv, CLI, fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { type HttpBridge, startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { modern } from '@sandbridge/core/test/support/bridges/raw-request.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'
import { providerOrSkip } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'

const NUMBERS = [2n ** 53n + 1n, 2n ** 63n, 2n ** 64n, 10n ** 30n, -(2n ** 53n + 1n)]
const LIST = `[${NUMBERS.join()}]`
const SPACED = `[${NUMBERS.join(', ')}]`

const inputSchema = { type: 'object', properties: { ids: { type: 'array', items: { type: 'integer' } } } }
const rows = `{"content":[{"type":"text","text":"{\\"ids\\":${LIST}}"}],"structuredContent":{"ids":${LIST}}}`
const TOOLS = { echo: { inputSchema }, rows: { result: rows }, words: { result: rows.replace(/,"struct.*/, '}') } }

const SERVER = fixtureServer('written.mjs', JSON.stringify(TOOLS))

const WORKFLOW = `async def rep(ids: list[int] = []) -> str:
    """Report."""
    return repr(ids)
runtime.save_workflow("rep", rep)`

/** A server over HTTP that answers each request with an event. */
async function eventServer(): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => void answer(request, response))
  async function answer(request: Parameters<typeof text>[0], response: ServerResponse): Promise<void> {
    const body = await text(request)
    const { id, method } = JSON.parse(body || '{}') as { id?: number; method?: string }
    if (id === undefined) return void response.writeHead(body === '' ? 405 : 202).end()
    const result: Record<string, string> = {
      initialize:
        '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"events","version":"1"}}',
      'tools/list': `{"tools":[{"name":"echo","inputSchema":${JSON.stringify(inputSchema)}}]}`,
      'tools/call': `{"content":[],"structuredContent":{"got":${/"ids":(\[[^\]]*\])/.exec(body)?.[1]}}}`,
    }
    const known = result[method!]
    const outcome = known === undefined ? '"error":{"code":-32601,"message":"Method not found"}' : `"result":${known}`
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`event: message\ndata: {"jsonrpc":"2.0","id":${id},${outcome}}\n\n`)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, close: () => server.close() }
}

const ends: (() => Promise<void> | void)[] = []
let bridge: HttpBridge
let env: Record<string, string>
beforeAll(async () => {
  const events = await eventServer()
  ends.push(events.close)
  const servers = { t: SERVER, events: { url: events.url } }
  const settings = { MCP_BRIDGE_LANGUAGES: 'python,javascript', MCP_BRIDGE_EXPOSE: 'rep' }
  // A host would play several bridges in one process, which share the prototype of BigInt.
  bridge = await startHttpBridge({ servers, env: settings, ownProcess: true }, (end) => void ends.push(end))
  env = bridgeEnv(bridge.home, settings)
  expect(await runCommand(['exec', '-c', WORKFLOW], env)).toMatchObject({ code: 0 })
}, 200_000)
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const CALL = (name: string, args: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`

/** The body of the response to a call, as it came. */
const ERAS: Record<string, (name: string, args: string, query?: string) => Promise<string>> = {
  'a client of the older era': async (name, args, query = '') => {
    const post = async (body: string, session?: string) =>
      fetch(bridge.url + query, {
        method: 'POST',
        headers: { ...headers(), ...(session !== undefined && { 'mcp-session-id': session }) },
        body,
      })
    const opened = await post(
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}',
    )
    const session = opened.headers.get('mcp-session-id')!
    await opened.text()
    return (await post(CALL(name, args), session)).text()
  },
  'a client of the newer era': async (name, args, query = '') => {
    const { headers: own, body } = modern('tools/call', { name, arguments: 0 })
    const sent = body.replace('"arguments":0', () => `"arguments":${args}`)
    const all = { ...headers(), ...own, 'mcp-name': name }
    return (await fetch(bridge.url + query, { method: 'POST', headers: all, body: sent })).text()
  },
}
const headers = () => ({
  authorization: `Bearer ${bridge.token}`,
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
})
const inText = (words: string): string => JSON.stringify(words).slice(1, -1)

describe.each(Object.entries(ERAS))('%s over HTTP', (_, call) => {
  it('sends them in code, and reads them from servers', async () => {
    const code = `print(await mcp_t.echo(ids=${LIST})); print((await mcp_t.rows()).ids, (await mcp_t.words()).ids)`
    const shown = await call('run_python', JSON.stringify({ code }))
    expect(shown).toContain(inText(`got {"ids":${LIST}}`))
    expect(shown).toContain(`${SPACED} ${SPACED}`)
  })

  it('sends them to workflows', async () => {
    expect(await call('rep', `{"ids":${LIST}}`)).toContain(SPACED)
    // As clients do that encode an argument twice.
    expect(await call('rep', `{"ids":"${LIST}"}`)).toContain(SPACED)
  })

  it('sends them to listed tools, and gets them from there', async () => {
    expect(await call('t__echo', `{"ids":${LIST}}`, '?tools=direct')).toContain(inText(`got {"ids":${LIST}}`))
    expect(await call('t__rows', '{}', '?tools=direct')).toContain(`"structuredContent":{"ids":${LIST}}`)
  })

  it('sends them to tools that it found', async () => {
    const given = `{"name":"t__echo","arguments":{"ids":${LIST}}}`
    expect(await call('call_tool', given, '?tools=search')).toContain(inText(`got {"ids":${LIST}}`))
    expect(await call('call_tool', '{"name":"t__rows"}', '?tools=search')).toContain(`{"ids":${LIST}}`)
  })

  it('exchanges them with a server that answers in events', async () => {
    expect(await call('events__echo', `{"ids":${LIST}}`, '?tools=direct')).toContain(`{"got":${LIST}}`)
    const code = `(await mcp_events.echo(ids=${LIST})).got`
    expect(await call('run_python', JSON.stringify({ code }))).toContain(SPACED)
  })

  it('exchanges them in JavaScript, as BigInts', async () => {
    const big = NUMBERS.map((number) => `${number}n`).join()
    const code = `console.log(await t.echo({ ids: [${big}] })); (await t.rows()).ids.join()`
    const shown = await call('run_javascript', JSON.stringify({ code }))
    expect(shown).toContain(inText(`got {"ids":${LIST}}`))
    expect(shown).toContain(NUMBERS.join())
  })
})

it('a client over stdio sends them to workflows', async () => {
  const child = spawn(process.execPath, [CLI, 'run'], { env, cwd: bridge.home, stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = createInterface({ input: child.stdout })
  const answer = new Promise<string>((resolve) => {
    lines.on('line', (line) => void (/"id":1[,}]/.test(line) && resolve(line)))
  })
  child.stdin.write(
    `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}\n` +
      `{"jsonrpc":"2.0","method":"notifications/initialized"}\n${CALL('rep', `{"ids":${LIST}}`)}\n`,
  )
  expect(await answer).toContain(SPACED)
  child.stdin.end()
})

it('a terminal prints them, and passes them on', async () => {
  const code = `print(await mcp_t.echo(ids=${LIST})); (await mcp_t.rows()).ids`
  const { stdout } = await runCommand(['exec', '-c', code], env)
  expect(stdout).toContain(`got {"ids":${LIST}}`)
  expect(stdout).toContain(SPACED)
})

it('a bash cell exchanges them with servers', async () => {
  await providerOrSkip('bubblewrap')
  const settings = { MCP_BRIDGE_RUNTIME: 'bubblewrap', MCP_BRIDGE_LANGUAGES: 'python,bash' }
  const { text: shown } = await (
    await startBridge({ servers: { t: SERVER }, env: settings })
  ).callTool('run_bash', { code: `mcp t echo --ids '${LIST}'; mcp t rows` })
  expect(shown).toContain(`got {"ids":${LIST}}`)
  for (const number of NUMBERS) expect(shown.split(String(number)).length).toBeGreaterThan(2)
})
