// This file verifies that no secret of a server's definition appears in anything that the bridge prints or stores,
// however the server fails. The result of a successful call is the server's own responsibility and is not checked.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  bridgeEnv,
  CLI,
  closeTestBridge,
  openTestBridge,
  ROOT,
  type ServerEntry,
  type TestBridge,
} from '../support/bridges/bridge-process.ts'
import { runCommand } from '../support/machine/run-program.ts'

const fixture = (name: string) => path.join(ROOT, 'packages/core/test/fixtures/servers', name)

/** One for every field, so that a leak names its origin. */
const FIELDS = ['env', 'arg', 'option', 'envfile', 'placeholder', 'input', 'file']
const REMOTE_FIELDS = ['header', 'bearer', 'query', 'user', 'password', 'urlpath']
const canaryOf = (field: string) => `canary-${field}-7Qz9xK2mWv`
const canaries = [...FIELDS, ...REMOTE_FIELDS].map(canaryOf)

/** The canaries in a text: plain, in base64 at any offset, and URL-encoded. */
function leaksIn(text: string): string[] {
  return canaries.filter((canary) => spellings(canary).some((spelling) => text.includes(spelling)))
}

function spellings(canary: string): string[] {
  // Base64 encodes three bytes at a time, so the text before a secret shifts it, and its ends depend on the neighbours.
  const shifted = [0, 1, 2].map((shift) =>
    Buffer.from('x'.repeat(shift) + canary)
      .toString('base64')
      .slice(shift === 0 ? 0 : 4, -4),
  )
  const percent = Buffer.from(canary).toString('hex').replace(/../g, '%$&')
  return [canary, encodeURIComponent(canary), percent, ...shifted]
}

let bridge: TestBridge
let remote: Server
const outputs = new Map<string, string>()

/** Fails as its path says, and quotes the whole request in its response. */
function listenRemote(): Promise<string> {
  remote = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const quoted = `${request.url} ${JSON.stringify(request.headers)} ${decodeURIComponent(request.url ?? '')}`
      const [, kind] = request.url!.split('/')
      const { id = null } = JSON.parse(Buffer.concat(chunks).toString() || '{}') as { id?: number }
      if (kind === 'rpc') {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: quoted } }))
      } else if (kind === 'reset') request.socket.resetAndDestroy()
      else response.writeHead(Number(kind) || 404, { 'content-type': 'text/plain' }).end(quoted)
    })
  })
  return new Promise((resolve) => {
    remote.listen(0, '127.0.0.1', () => {
      resolve(`127.0.0.1:${(remote.address() as AddressInfo).port}`)
    })
  })
}

const KINDS = ['401', '403', '404', '500', '200', 'rpc', 'reset']
const NAMES = ['works', 'tells', 'missing', 'nowhere', ...KINDS.map((kind) => `remote${kind}`)]

beforeAll(async () => {
  const address = await listenRemote()
  bridge = await openTestBridge({
    env: {
      MCP_BRIDGE_LOG_LEVEL: 'debug',
      // Also where the paths of temporary files are long.
      MCP_BRIDGE_OUTPUT_TOKENS: '200000',
      PLACEHOLDER: canaryOf('placeholder'),
      MCP_INPUT_TOKEN: canaryOf('input'),
    },
    prepareHome: (home) => writeDefinitions(home, address),
  })
  outputs.set(
    'what Python sees',
    await bridge.run(
      `import traceback, json
def show(value): print(json.dumps(value, default=repr))
for name in ${JSON.stringify(NAMES)}:
    for attempt in range(2):
        try:
            result = await mcp_servers[name].echo(text="x")
        except Exception as error:
            traceback.print_exc()
            print(error, repr(error), vars(error), error.__cause__)
    for ask in (runtime.list_tools, runtime.query_tool_docs, runtime.describe_server):
        try:
            show(await ask(name) if ask is not runtime.describe_server else ask(name))
        except Exception as error:
            traceback.print_exc()
show(runtime.discovered_servers(detailed=True))
show(runtime.list_servers_sync())
show(await runtime.search_tool_docs("echo"))
print(runtime.capability_summary(), LOADED_MCP_SERVERS, runtime.list_loaded_server_metadata())`,
      { timeout: 100 },
    ),
  )
  const answer = await bridge.call({ code: 'await mcp_tells.echo(text="x")' })
  outputs.set('a tool result', JSON.stringify(answer))
  const { resources } = await bridge.client.listResources()
  for (const { uri } of resources) outputs.set(uri, JSON.stringify(await bridge.client.readResource({ uri })))
  const env = bridgeEnv(bridge.home, { PLACEHOLDER: canaryOf('placeholder'), MCP_INPUT_TOKEN: canaryOf('input') })
  for (const command of [
    'index',
    'servers',
    'servers --json',
    'servers --sources',
    'search echo --json',
    'tools works --json',
    'tools tells',
    'doctor --json',
    'doctor',
    'login remote401 --no-browser',
  ]) {
    const { stdout, stderr } = await runCommand(command.split(' '), env, {
      cwd: bridge.home,
    })
    outputs.set(command, stdout + stderr)
  }
}, 240_000)

afterAll(async () => {
  remote.close()
  await closeTestBridge(bridge)
})

function writeDefinitions(home: string, address: string): void {
  const secretFolder = path.join(home, 'the-cwd')
  const programFolder = path.join(home, 'the-command')
  mkdirSync(secretFolder)
  mkdirSync(programFolder)
  // A link of a file takes a privilege on Windows.
  const program = path.join(programFolder, path.basename(process.execPath))
  if (process.platform === 'win32') copyFileSync(process.execPath, program)
  else symlinkSync(process.execPath, program)
  writeFileSync(path.join(home, 'vars.env'), `FROM_FILE=${canaryOf('envfile')}\n`)
  writeFileSync(path.join(home, 'key.txt'), canaryOf('file'))
  const stdio = (script: string, ...args: string[]): ServerEntry & { envFile: string } => ({
    command: program,
    args: [fixture(script), ...args, canaryOf('arg'), `--token=${canaryOf('option')}`],
    env: {
      SECRET: canaryOf('env'),
      EXPANDED: '${PLACEHOLDER}',
      ASKED: '${input:token}',
      KEY: `\${file:${path.join(home, 'key.txt')}}`,
    },
    envFile: path.join(home, 'vars.env'),
    cwd: secretFolder,
  })
  const remoteEntry = (kind: string) => ({
    type: 'http',
    url: `http://${canaryOf('user')}:${canaryOf('password')}@${address}/${kind}/${canaryOf('urlpath')}?key=${canaryOf('query')}`,
    headers: { 'X-Key': canaryOf('header'), 'X-Authorization': `Bearer ${canaryOf('bearer')}` },
  })
  const mcpServers = {
    works: stdio('raw.mjs', 'good'),
    tells: stdio('tells-all.mjs'),
    missing: { ...stdio('raw.mjs', 'good'), command: path.join(programFolder, 'no-such-program') },
    nowhere: { ...stdio('raw.mjs', 'good'), cwd: path.join(secretFolder, 'gone') },
    ...Object.fromEntries(KINDS.map((kind) => [`remote${kind}`, remoteEntry(kind)])),
  }
  writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers }))
}

/** All files under the home except the user's own and the shared sandbox. */
function keptFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name)
    if (entry.isSymbolicLink() || /^(MCPs|vars\.env|key\.txt)$/.test(entry.name)) return []
    return entry.isDirectory() ? keptFiles(file) : [file]
  })
}

it('the search for canaries finds each of them in every spelling', () => {
  for (const canary of canaries) {
    const base64 = ['', 'a', 'ab'].map((before) => Buffer.from(`${before}${canary}:more`).toString('base64'))
    for (const spelling of [canary, encodeURIComponent(canary), ...base64]) {
      expect(leaksIn(`text before ${spelling} text after`), spelling).toEqual([canary])
    }
  }
})

it('the search for canaries finds one that is put into an output', async () => {
  const text = await bridge.run(`print("${canaryOf('env')}")`)
  expect(leaksIn(text)).toEqual([canaryOf('env')])
})

it('the search for canaries looks at outputs that name every server', () => {
  const seen = outputs.get('what Python sees')!
  for (const name of NAMES) expect(seen).toContain(name)
  expect(seen).toContain('Last output: ')
  expect(outputs.get('servers --json')).toContain('"SECRET"')
  expect(seen).toMatch(/the command `.*the-command[\\/]+no-such-program` was not found/)
})

it('no canary is in any message', () => {
  const leaks = [...outputs].flatMap(([what, text]) => leaksIn(text).map((canary) => `${what}: ${canary}`))
  expect(leaks).toEqual([])
})

it('no canary is in the log at its most detailed', () => {
  expect(bridge.stderr).toContain('tells')
  expect(leaksIn(bridge.stderr)).toEqual([])
})

it('no canary is in any file that is kept', () => {
  const files = keptFiles(bridge.home)
  expect(files.length).toBeGreaterThan(0)
  const leaks = files.flatMap((file) => leaksIn(readFileSync(file, 'latin1')).map((canary) => `${file}: ${canary}`))
  expect(leaks).toEqual([])
})

it('the built bridge leaves out what libraries print beside the log', () => {
  const folder = path.dirname(CLI)
  const prints = (name: string) =>
    /console\.(log|warn|error|info)\(/.test(readFileSync(path.join(folder, name), 'utf8'))
  expect(readdirSync(folder).filter((name) => name.endsWith('.js') && prints(name))).toEqual([])
})
