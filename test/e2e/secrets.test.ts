// The secrets of server definitions stay in the bridge: every field that can hold one is planted with a canary, servers and strangers do their worst to
// give it away, and whatever comes out of the bridge, to whomever, is searched for it.
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  bridgeEnv,
  CLI,
  fixtureServer,
  makeHome,
  openTestBridge,
  type RemoteEntry,
  type ServerEntry,
  type TestBridge,
} from '../support/bridge-process.ts'
import { runProgram } from '../support/run-program.ts'

const canaries: Record<string, string> = {}
/** A value that is like no other, remembered under the place where it is planted. */
const canary = (place: string): string => (canaries[place] = `canary${randomBytes(8).toString('hex')}`)

/** Writes all it was given to stderr, and ends. */
const TATTLER = 'console.error(JSON.stringify([process.argv, process.env, process.cwd()])); process.exit(3)'
/** The same, but is a server: what it says on stderr is kept, and its log messages are listened to. */
const CHATTERBOX = `console.error(JSON.stringify([process.argv, process.env, process.cwd()]))
process.stdin.on('data', (chunk) => { for (const line of String(chunk).split('\\n').filter(Boolean)) {
  const { id, method } = JSON.parse(line), say = (m) => console.log(JSON.stringify({ jsonrpc: '2.0', ...m }))
  say({ method: 'notifications/message', params: { level: 'error', data: [process.argv, process.env, process.cwd()] } })
  if (method === 'initialize') say({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {}, logging: {} }, serverInfo: { name: 'x', version: '1' } } })
  else if (id !== undefined) say({ id, error: { code: -32000, message: 'failed with ' + JSON.stringify([process.argv, process.env]) } })
} })`

let home: string
let web: Server
let bridge: TestBridge
let outputs: Record<string, string>

/** Answers every request with all that it was sent. */
async function openEcho(): Promise<string> {
  web = createServer((request, response) => {
    const status = Number(/^\/(\d+)/.exec(request.url ?? '')?.[1] ?? 404)
    response.writeHead(status, { 'content-type': 'text/plain', 'x-echo': String(request.headers['x-key']) })
    response.end(JSON.stringify([request.url, request.headers]))
  })
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${(web.address() as AddressInfo).port}`
}

const program = (name: string, script: string, cwd: string): ServerEntry => ({
  cwd,
  command: process.execPath,
  args: ['-e', script, '--', `--token=${canary(`${name} args`)}`],
  env: { API_KEY: canary(`${name} env`) },
})

const remote = (name: string, host: string, status: number): RemoteEntry => ({
  url: `http://${canary(`${name} user`)}:${canary(`${name} password`)}@${host}/${status}?key=${canary(`${name} query`)}`,
  headers: { Authorization: `Bearer ${canary(`${name} bearer`)}`, 'X-Key': canary(`${name} header`) },
})

beforeAll(async () => {
  const host = await openEcho()
  home = makeHome()
  const folder = path.join(home, canary('cwd'))
  mkdirSync(folder)
  writeFileSync(path.join(home, 'secret.env'), `FROM_FILE=${canary('envFile')}\n`)
  writeFileSync(path.join(home, 'secret.txt'), canary('${file:}'))
  const good = fixtureServer('raw.mjs', 'good')
  const servers = {
    good: { ...good, args: [...good.args!, canary('good args')], env: { API_KEY: canary('good env') }, cwd: folder },
    files: {
      ...fixtureServer('raw.mjs', 'good'),
      env: { A: '${file:secret.txt}' },
      envFile: path.join(home, 'secret.env'),
    },
    tattler: program('tattler', TATTLER, folder),
    chatterbox: program('chatterbox', CHATTERBOX, folder),
    missing: { command: `/no/such/${canary('command')}/program` },
    unset: { command: process.execPath, args: [`${canary('beside a placeholder')}\${NOT_SET_ANYWHERE}`] },
    refused: remote('refused', host, 401),
    forbidden: remote('forbidden', host, 403),
    broken: remote('broken', host, 500),
    dead: remote('dead', '127.0.0.1:9', 200),
    badurl: { type: 'http', url: `http://${canary('bad url')}:notaport/` },
    badentry: { command: 7, env: { KEY: canary('bad entry') } },
  }
  writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: servers }))
  writeFileSync(
    path.join(home, 'MCPs/half.json'),
    `{"mcpServers": {"half": {"env": {"KEY": "${canary('half-written file')}"`,
  )
  bridge = await openTestBridge({ home, env: { MCP_BRIDGE_LOG_LEVEL: 'debug' } })
  outputs = await collect(Object.keys(servers))
}, 180_000)

afterAll(async () => {
  await bridge.client.close()
  web.closeAllConnections()
  await new Promise((resolve) => web.close(resolve))
  rmSync(home, { recursive: true, force: true })
})

/** What a cell can find out: everything the API has, with whatever it raises, taken apart. */
const PRY = (server: string) => `
import traceback
def show(error):
    print(repr(error), str(error), getattr(error, "__dict__", None), getattr(error, "hint", None), getattr(error, "data", None))
    traceback.print_exception(error)
async def pry():
    for ask in (
        lambda: runtime.query_tool_docs(${JSON.stringify(server)}, detail="full"), lambda: runtime.describe_server(${JSON.stringify(server)}),
        lambda: runtime.call_tool(${JSON.stringify(server)}, "echo", {}), lambda: mcp_servers[${JSON.stringify(server)}].resources(),
        lambda: mcp_servers[${JSON.stringify(server)}].echo.raw(text="x"),
    ):
        try: print(await ask())
        except BaseException as error: show(error)
    try: print(mcp_servers[${JSON.stringify(server)}], dir(mcp_servers[${JSON.stringify(server)}]))
    except BaseException as error: show(error)
await pry()`

async function collect(servers: string[]): Promise<Record<string, string>> {
  const collected: Record<string, string> = {}
  for (const server of servers)
    collected[`cell about ${server}`] = JSON.stringify(await bridge.call({ code: PRY(server), timeout: 100 }))
  const overview =
    'import os, json\nprint(runtime.discovered_servers(detailed=True), await runtime.search_tool_docs("echo text"), runtime.capability_summary(), dict(os.environ))'
  collected['overview'] = JSON.stringify(await bridge.call({ code: overview, timeout: 100 }))
  const { resources } = await bridge.client.listResources()
  collected['resources'] = JSON.stringify(resources)
  for (const { uri } of resources) collected[uri] = JSON.stringify(await bridge.client.readResource({ uri }))
  const commands = [
    ['servers'],
    ['servers', '--json'],
    ['servers', '--sources'],
    ['search', 'echo', '--json'],
    ['index'],
    ['doctor', '--json'],
  ]
  for (const server of servers) commands.push(['tools', server, '--json'])
  commands.push(['login', 'refused', '--no-browser'])
  const env = bridgeEnv(home, { MCP_BRIDGE_LOG_LEVEL: 'debug' })
  for (const args of commands) {
    const { stdout, stderr } = await runProgram(process.execPath, [CLI, ...args], env, { cwd: home })
    collected[args.join(' ')] = stdout + stderr
  }
  collected['stderr of the bridge'] = bridge.stderr
  for (const file of written(home)) collected[file] = readFileSync(file, 'utf8')
  return collected
}

/** Files of the bridge's own. The embedded sandbox's are shared by all tests and older than these canaries. */
function written(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name)
    if (entry.isDirectory()) return written(file)
    const ours = entry.isFile() && !/secret\.(env|txt)$|MCPs.(servers|half)\.json$/.test(file)
    return ours ? [file] : []
  })
}

/** The canaries in a text, as they are or in a usual disguise. */
function found(text: string): string[] {
  return Object.entries(canaries).flatMap(([place, value]) => {
    const bytes = Buffer.from(value)
    // Base64 at any offset holds the middle of the encoded value.
    const disguises = [0, 1, 2].map((shift) =>
      Buffer.concat([Buffer.alloc(shift), bytes])
        .toString('base64')
        .slice(4, -4),
    )
    return [value, bytes.toString('hex'), ...disguises].some((form) => text.includes(form)) ? [place] : []
  })
}

describe('no secret of a definition', () => {
  it('comes out in any way', () => {
    const leaks = Object.entries(outputs).flatMap(([name, text]) => found(text).map((place) => `${place} in ${name}`))
    expect(leaks).toEqual([])
  })

  it('was looked for in vain: the servers were started, and said what they know', () => {
    expect(outputs['cell about good']).toContain('echo')
    expect(outputs['cell about tattler']).toContain('could not be started')
    expect(outputs['cell about chatterbox']).toContain('failed with')
    expect(outputs['cell about refused']).toMatch(/401|sign/)
    expect(outputs['cell about broken']).toContain('500')
    expect(Object.keys(outputs).filter((name) => name.includes('catalog')).length).toBeGreaterThan(0)
    expect(outputs['stderr of the bridge']).toContain('A server says')
  })

  it('is printed by a library: what those write to the console is left out of the built bridge', () => {
    const folder = path.dirname(CLI)
    const printing = readdirSync(folder).filter((name) =>
      /console\.(log|warn|error|info)\(/.test(readFileSync(path.join(folder, name), 'utf8')),
    )
    expect(printing.filter((name) => name.endsWith('.js'))).toEqual([])
  })

  it('would be found if it were there, also disguised', () => {
    const [place, value] = Object.entries(canaries)[0]!
    expect(found(`x ${value} y`)).toEqual([place])
    expect(found(Buffer.from(`user:${value}`).toString('base64'))).toEqual([place])
  })
})
