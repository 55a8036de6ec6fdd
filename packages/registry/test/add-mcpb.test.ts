// @module-tag whole: a command and a server for each test
// This file verifies that a server in an MCPB file is downloaded, checked, unpacked, run from its own folder and
// removed with it, and that a file with another hash than the registry's, or with paths outside its folder, leaves
// nothing behind.
import { createHash } from 'node:crypto'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { unpackMcpb } from '../src/mcpb/mcpb-package.ts'
import { jails } from '@sandbridge/core/parts'
import { bridgeEnv, CLI, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { FakeRegistry, listed } from '@sandbridge/core/test/support/servers/fake-registry.ts'
import { inTerminal } from '@sandbridge/core/test/support/machine/in-terminal.ts'
import { makeZip, type ZipFile } from './support/make-zip.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'
import { expectMode } from '@sandbridge/core/test/support/machine/modes.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'

const SECRET = 's3cret-of-the-user'

/** Its replies say how and where it was started. */
const SERVER = `
import { existsSync } from 'node:fs'
import { word } from './lib/word.mjs'
const write = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
let rest = ''
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n')
  rest = lines.pop()
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) continue
    if (method === 'initialize')
      write({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'm', version: '1' } } })
    else if (method === 'tools/list')
      write({ id, result: { tools: [{ name: 'about', inputSchema: { type: 'object', properties: {} } }] } })
    else if (method === 'tools/call') {
      const { API_KEY, UNITS, LIBS } = process.env
      const seen = process.argv.slice(2).filter((place) => existsSync(place))
      const told = { seen, word, argv: process.argv.slice(2), cwd: process.cwd(), key: API_KEY?.length, UNITS, LIBS }
      write({ id, result: { content: [{ type: 'text', text: JSON.stringify(told) }] } })
    } else write({ id, error: { code: -32601, message: 'no ' + method } })
  }
})
`

const MANIFEST = {
  manifest_version: '0.3',
  name: 'weather',
  version: '1.0.0',
  server: {
    type: 'node',
    entry_point: 'server/main.mjs',
    mcp_config: {
      command: 'node',
      args: ['server/main.mjs', '--place', '${user_config.place}', '${user_config.folders}', '${user_config.none}'],
      env: { API_KEY: '${user_config.key}', UNITS: '${user_config.units}', LIBS: '${__dirname}/server/lib ${PATH}' },
    },
  },
  user_config: {
    key: { type: 'string', title: 'API key', sensitive: true, required: true },
    place: { type: 'string', title: 'Place' },
    units: { type: 'string', default: 'si' },
    folders: { type: 'directory', multiple: true, default: ['${HOME}/a', '/b'] },
    none: { type: 'string' },
  },
}

const bundle = (manifest: object = MANIFEST, more: ZipFile[] = [], word = 'first'): Buffer =>
  makeZip([
    { name: 'manifest.json', data: JSON.stringify(manifest) },
    { name: 'server/', data: '', mode: 0o040755 },
    { name: 'server/main.mjs', data: SERVER, mode: 0o100755 },
    { name: 'server/lib/word.mjs', data: `export const word = '${word}'` },
    ...more,
  ])

const sha256 = (data: Buffer) => createHash('sha256').update(data).digest('hex')

async function setUp() {
  const home = makeHome()
  const files = new Map<string, Buffer | ((response: ServerResponse) => void)>()
  const http = createServer((request, response) => {
    const file = files.get(request.url ?? '')
    if (typeof file === 'function') file(response)
    else response.writeHead(file ? 200 : 404).end(file)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const registry = await FakeRegistry.start([])
  onTestFinished(async () => {
    http.closeAllConnections()
    http.close()
    await registry.close()
  })
  const address = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const offer = (
    version: string,
    file: Buffer,
    { url = `/${version}.mcpb`, hash = sha256(file), at = address } = {},
  ) => {
    if (!files.has(url)) files.set(url, file)
    const packages = [
      { registryType: 'mcpb', identifier: `${at}${url}`, fileSha256: hash, transport: { type: 'stdio' } },
    ]
    const updatedAt = `2030-01-${String(registry.requests.length + 1).padStart(2, '0')}T00:00:00Z`
    registry.servers = [listed({ name: 'io.example/weather', version, packages }, { updatedAt })]
    rmSync(path.join(home, 'MCPs/.sandbridge/registry'), { recursive: true, force: true })
    return packages[0]!
  }
  const env = { MCP_BRIDGE_REGISTRIES: registry.address }
  const run = (args: string[], more: Record<string, string> = {}) =>
    runCommand(args, bridgeEnv(home, { ...env, ...more }), { cwd: home })
  const unpacked = path.join(home, 'MCPs/added-servers')
  /** What is left of it, one line per folder. */
  const folders = () =>
    existsSync(unpacked)
      ? readdirSync(unpacked).flatMap((name) =>
          readdirSync(path.join(unpacked, name)).map((one) => path.join(unpacked, name, one)),
        )
      : []
  return { home, files, registry, env, run, offer, folders, unpacked, address }
}

const ANSWERS = { MCP_INPUT_WEATHER_KEY: SECRET, MCP_INPUT_WEATHER_PLACE: 'Oslo; rm -rf ~' }

it('sandbridge add installs an MCPB file: fetches, shows, unpacks, starts, updates and removes it', async () => {
  const { home, run, env, offer, folders } = await setUp()
  offer('1.0.0', bundle())
  const dry = await run(['add', 'weather', '--dry-run'])
  expect(dry.stdout, dry.stderr).toMatch(
    / {2}runs: node server\/main\.mjs --place \S*input:weather_place\S* \S*\/a \/b\n/,
  )
  expect(dry.stdout).toContain('asks for: key (secret): API key')
  expect(dry.stdout).toContain('could also be given, with --with NAME: none')
  expect(folders()).toEqual([])

  const bridge = await startBridge({ home, env })
  const added = await run(['add', 'weather', '--yes'], ANSWERS)
  expect(added.code, added.stderr).toBe(0)
  const [folder] = folders()
  expect(folders()).toHaveLength(1)
  const told = async () =>
    JSON.parse(
      JSON.parse((await bridge.run('import json\nprint(json.dumps(await mcp_weather.about(raw=True)))')).trim())
        .content[0].text,
    ) as object
  expect(await told()).toEqual({
    seen: [],
    word: 'first',
    argv: ['--place', 'Oslo; rm -rf ~', `${home}/a`, '/b'],
    cwd: folder,
    key: SECRET.length,
    UNITS: 'si',
    LIBS: `${folder}/server/lib \${PATH}`,
  })
  const kept = readFileSync(path.join(home, 'MCPs/added-servers.json'), 'utf8')
  for (const text of [kept, added.stdout, added.stderr]) expect(text).not.toContain(SECRET)
  expectMode(path.dirname(folder!), 0o700)
  expectMode(path.join(folder!, 'server/main.mjs'), 0o755)

  // When declined, the version in use is unchanged.
  offer('1.1.0', bundle(MANIFEST, [], 'second'))
  expect((await run(['update', '--dry-run'])).stdout).toContain('weather: 1.0.0 → 1.1.0')
  expect(folders()).toEqual([folder])
  const updated = await run(['update', '--yes'])
  expect(updated.stdout, updated.stderr).toContain('Updated weather.')
  expect(folders()).toHaveLength(1)
  expect(folders()).not.toEqual([folder])
  expect(await told()).toMatchObject({ word: 'second', cwd: folders()[0], key: SECRET.length })

  expect((await run(['remove', 'weather', '--yes'])).stdout).toBe('Removed weather.\n')
  expect(existsSync(path.dirname(folder!))).toBe(false)
})

type Prepare = (set: Awaited<ReturnType<typeof setUp>>) => { identifier: string; fileSha256: string }

it.each<[string, string, Prepare]>([
  [
    'another hash than the registry says',
    'has another SHA-256',
    ({ offer }) => offer('1.0.0', bundle(), { hash: sha256(Buffer.from('x')) }),
  ],
  ['no hash', 'does not name the SHA-256', ({ offer }) => offer('1.0.0', bundle(), { hash: '' })],
  [
    'a file with ..',
    'file outside its folder: "../up"',
    ({ offer }) => offer('1.0.0', bundle(MANIFEST, [{ name: '../up', data: 'x' }])),
  ],
  [
    'an absolute path',
    'file outside its folder: "/tmp/up"',
    ({ offer }) => offer('1.0.0', bundle(MANIFEST, [{ name: '/tmp/up', data: 'x' }])),
  ],
  [
    'a path of Windows',
    'file outside its folder',
    ({ offer }) => offer('1.0.0', bundle(MANIFEST, [{ name: 'a\\..\\..\\up', data: 'x' }])),
  ],
  [
    'a symlink',
    'not a plain file: "link"',
    ({ offer }) => offer('1.0.0', bundle(MANIFEST, [{ name: 'link', data: '/etc', mode: 0o120777 }])),
  ],
  [
    'two files of one name',
    'two files of one name',
    ({ offer }) => offer('1.0.0', bundle(MANIFEST, [{ name: 'Manifest.json', data: '{}' }])),
  ],
  [
    'a bomb',
    'more than 1024 MiB unpacked',
    ({ offer }) => {
      const bomb = bundle(MANIFEST, [{ name: 'zeros', data: 'x' }])
      // The file's directory claims that the last entry has three GiB.
      bomb.writeUInt32LE((3 << 30) >>> 0, bomb.lastIndexOf(Buffer.from('PK\x01\x02')) + 24)
      return offer('1.0.0', bomb)
    },
  ],
  ['no zip', 'not a zip archive', ({ offer }) => offer('1.0.0', Buffer.from('<html>'))],
  ['no manifest', 'has no manifest.json', ({ offer }) => offer('1.0.0', makeZip([{ name: 'a', data: 'b' }]))],
  [
    'an address without https',
    'not at an https address',
    ({ offer }) => offer('1.0.0', bundle(), { at: 'http://files.example' }),
  ],
  [
    'a redirect to a link-local address',
    'cannot be fetched',
    ({ offer, files }) => {
      files.set('/away', (response) => response.writeHead(302, { location: 'https://169.254.169.254/file' }).end())
      return offer('1.0.0', bundle(), { url: '/away' })
    },
  ],
  [
    'redirects without an end',
    'more than 5 redirects',
    ({ offer, files }) => {
      files.set('/round', (response) => response.writeHead(302, { location: '/round' }).end())
      return offer('1.0.0', bundle(), { url: '/round' })
    },
  ],
  [
    'a file without an end',
    'larger than 256 MiB',
    ({ offer, files }) => {
      files.set('/endless', (response) => {
        const block = Buffer.alloc(1 << 20)
        const more = (): void => {
          while (response.writable && response.write(block));
          response.once('drain', more)
        }
        more()
      })
      return offer('1.0.0', bundle(), { url: '/endless' })
    },
  ],
])('an MCPB file is refused with %s, and leaves nothing behind', async (_, problem, prepare) => {
  const set = await setUp()
  await expect(unpackMcpb(prepare(set), { parent: path.join(set.unpacked, 'weather'), env: {} })).rejects.toThrow(
    problem,
  )
  expect(set.folders()).toEqual([])
})

// These are unpacked before they are refused.
it.each<[string, string, Prepare]>([
  [
    'a program that is not its own',
    'runs bash, which is not in it',
    ({ offer }) =>
      offer(
        '1.0.0',
        bundle({ ...MANIFEST, server: { ...MANIFEST.server, mcp_config: { command: 'bash', args: ['-c', 'x'] } } }),
      ),
  ],
  [
    'a program outside of it',
    'a file that is not in it',
    ({ offer }) =>
      offer(
        '1.0.0',
        bundle({
          ...MANIFEST,
          server: { type: 'binary', entry_point: 'x', mcp_config: { command: '${__dirname}/../../bin/sh' } },
        }),
      ),
  ],
  [
    'a secret on its command line',
    'the secret key on a command line',
    ({ offer }) =>
      offer(
        '1.0.0',
        bundle({ ...MANIFEST, server: { ...MANIFEST.server, mcp_config: { args: ['--key=${user_config.key}'] } } }),
      ),
  ],
  [
    'a variable that steers programs',
    'it sets LD_PRELOAD',
    ({ offer }) =>
      offer(
        '1.0.0',
        bundle({
          ...MANIFEST,
          server: { ...MANIFEST.server, mcp_config: { env: { LD_PRELOAD: '${__dirname}/x.so' } } },
        }),
      ),
  ],
  [
    'another system',
    'its file is for plan9',
    ({ offer }) => offer('1.0.0', bundle({ ...MANIFEST, compatibility: { platforms: ['plan9'] } })),
  ],
])('an MCPB file is refused with %s, and leaves nothing behind', async (_, problem, prepare) => {
  const set = await setUp()
  prepare(set)
  const { code, stderr } = await set.run(['add', 'weather', '--yes'], ANSWERS)
  expect(stderr).toContain(problem)
  expect(code).toBe(2)
  expect(set.folders()).toEqual([])
  expect(existsSync(path.join(set.home, 'MCPs/added-servers.json'))).toBe(false)
})

it('an MCPB file is fetched through a redirect', async () => {
  const { run, offer, files, folders } = await setUp()
  const file = bundle()
  files.set('/real', file)
  files.set('/there', (response) => response.writeHead(302, { location: '/real' }).end())
  offer('1.0.0', file, { url: '/there' })
  const { code, stderr } = await run(['add', 'weather', '--yes'], ANSWERS)
  expect(code, stderr).toBe(0)
  expect(folders()).toHaveLength(1)
})

it('a cell cannot have an MCPB file fetched', async () => {
  const { home, env, offer, folders, files } = await setUp()
  let fetches = 0
  files.set('/asked', (response) => {
    fetches += 1
    response.writeHead(200).end()
  })
  offer('1.0.0', bundle(), { url: '/asked' })
  const bridge = await startBridge({ home, env })
  expect(await bridge.run('await runtime.request_server("weather")')).toContain('sandbridge add')
  expect([fetches, folders()]).toEqual([0, []])
})

const { findJailMaker } = await jails.for('These tests')
const jail = await findJailMaker()
const noJail = typeof jail === 'string' ? jail : undefined

describe('the folders of the user that the arguments of an MCPB file name', () => {
  beforeEach(() => {
    if (noJail !== undefined) skip(noJail)
  })

  /** Its manifest names one folder, and asks for another one. */
  const withFolders = async () => {
    const set = await setUp()
    const folders = ['work', 'chosen'].map((name) => path.join(set.home, name))
    for (const folder of folders) mkdirSync(folder)
    const server = {
      ...MANIFEST.server,
      mcp_config: { args: ['server/main.mjs', '${HOME}/work', '${user_config.dir}'] },
    }
    const dir = { type: 'directory', title: 'Folder', required: true }
    set.offer('1.0.0', bundle({ ...MANIFEST, server, user_config: { dir } }))
    const seen = async () => {
      const bridge = await startBridge({ home: set.home, env: set.env })
      const code = 'import json\nprint(json.loads((await mcp_weather.about(raw=True))["content"][0]["text"])["seen"])'
      return (await bridge.run(code)).trim()
    }
    return { ...set, seen, work: folders[0]!, chosen: folders[1]! }
  }

  it('sandbridge add --yes opens those that its user named, and not those of the publisher', async () => {
    const { run, seen, work, chosen } = await withFolders()
    const { stdout, stderr } = await run(['add', 'weather', '--yes'], { MCP_INPUT_WEATHER_DIR: chosen })
    expect(stdout, stderr).toContain(`It does not see ${work}. To open that, name it in allowRead of its sandbox.\n`)
    expect(await seen()).toBe(`['${chosen}']`)
  })

  it('sandbridge add asks for each in a terminal, and opens what its user says', async () => {
    if (spawnSync('python3', ['--version']).status !== 0) skip('there is no Python to make a terminal with')
    const { home, env, seen, work, chosen } = await withFolders()
    const steps: [string, string][] = [
      ['Start it once', 'y\r'],
      [`name ${work}. Let it read that?`, 'y\r'],
      [`name ${chosen}. Let it read that?`, 'n\r'],
      ['Add it as weather?', 'y\r'],
    ]
    const options = { cwd: home, steps }
    const command = [process.execPath, CLI, 'add', 'weather']
    const shown = await inTerminal(command, bridgeEnv(home, { ...env, MCP_INPUT_WEATHER_DIR: chosen }), options)
    expect(shown).toContain(`It does not see ${chosen}.`)
    expect(await seen()).toBe(`['${work}']`)
  })
})
