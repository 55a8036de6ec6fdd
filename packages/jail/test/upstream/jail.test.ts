// @module-tag whole: a jail for each test
// This file verifies what a jailed server can and cannot do: the same server does it without a jail, so that no attack
// fails for another reason.
import { once } from 'node:events'
import {
  copyFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type {
  ServerDefinition,
  ServerSandbox,
  StdioServer,
} from '../../../core/src/config/entries/server-definition.ts'
import type { JailMakerName } from '../../../core/src/isolation/jail-part.ts'
import { needsWholeRun, skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { JAIL_MAKERS } from './jail-makers.ts'
import { isAlive, open, openUnclosed, program, published, textOf } from '@sandbridge/core/test/upstream/support.ts'
import { until } from '@sandbridge/core/test/upstream/support.ts'
import type { TestUpstreams } from '@sandbridge/core/test/upstream/support.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const SECRET = 'the-secret-of-the-host'

let visits = 0
const visited = (): boolean => {
  const before = visits
  visits = 0
  return before > 0
}
const tcp = createServer((socket) => {
  visits += 1
  socket.end('HTTP/1.0 200 OK\r\n\r\nreached')
})
let port = 0

beforeAll(async () => {
  tcp.listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  port = (tcp.address() as AddressInfo).port
})
afterAll(() => void tcp.close())

/** A home folder, a project and a socket for each kind of jail. */
function makePlace(maker: JailMakerName) {
  const folder = realpathSync(newFolder())
  const home = path.join(folder, 'home')
  const stateDir = path.join(home, 'MCPs')
  const project = path.join(folder, 'project')
  const secretFile = path.join(home, '.ssh/id_ed25519')
  const config = path.join(project, '.mcp.json')
  const socketFile = path.join(folder, 'engine.sock')
  for (const one of ['.ssh', 'MCPs/.sandbridge/jail']) mkdirSync(path.join(home, one), { recursive: true })
  mkdirSync(path.join(project, '.git/hooks'), { recursive: true })
  writeFileSync(path.join(stateDir, '.sandbridge/tokens.json'), SECRET)
  writeFileSync(secretFile, SECRET)
  writeFileSync(config, SECRET)
  writeFileSync(path.join(project, 'notes.txt'), 'notes of the project')
  writeFileSync(path.join(project, '.env'), SECRET)
  // Root's jailed servers run as another user: what they may read must be readable, so that only the jail stops them.
  for (const one of [folder, home, project]) chmodSync(one, 0o777)
  const unix = createServer((socket) => {
    visits += 1
    socket.end('reached')
  })
  // Windows, which makes no jails, has no such sockets, and links take a privilege.
  if (process.platform !== 'win32') {
    symlinkSync(secretFile, path.join(project, 'link'))
    unix.listen(socketFile, () => chmodSync(socketFile, 0o777))
  }
  const remove = () => {
    unix.close()
  }
  const hidden = () => [path.join(stateDir, '.sandbridge'), config]
  return {
    folder,
    home,
    stateDir,
    project,
    secretFile,
    config,
    socketFile,
    remove,
    jail: { home, stateDir, hidden, makers: [maker] },
  }
}

function jailed(definition: ServerDefinition, sandbox: ServerSandbox = {}): ServerDefinition {
  return { ...definition, transport: { ...(definition.transport as StdioServer), sandbox } }
}

const intruder = () =>
  program('intruder', path.join(import.meta.dirname, '../../../core/test/fixtures/servers/intruder.mjs'))

const read = (file: string): string => `return require('node:fs').readFileSync(${JSON.stringify(file)}, 'utf8')`
const write = (file: string): string =>
  `require('node:fs').writeFileSync(${JSON.stringify(file)}, 'x'); return 'written'`
const dial = (to: object): string => `return new Promise((resolve, reject) => {
  const socket = require('node:net').connect(${JSON.stringify(to)})
  socket.on('data', (data) => resolve(String(data))).on('error', reject)
})`
/** Connects to a host through the proxy like clients do, and requests its page. */
const through = (host: string, hostPort: number): string => `return new Promise((resolve, reject) => {
  const { hostname, port: proxyPort } = new URL(process.env.HTTPS_PROXY)
  const socket = require('node:net').connect(Number(proxyPort), hostname)
  socket.write('CONNECT ${host}:${hostPort} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')
  let said = ''
  socket.on('data', (data) => {
    said += data
    if (/ 200 /.test(said) && said.endsWith('\\r\\n\\r\\n')) socket.write('GET / HTTP/1.0\\r\\n\\r\\n')
  })
  socket.on('end', () => resolve(said)).on('error', reject)
})`

describe.each(JAIL_MAKERS)('a server jailed by %s', (maker, why) => {
  beforeEach(() => {
    // Its containers are made as those of podman; jail-guards.test.ts and container-jail.test.ts have docker's.
    if (maker === 'docker') needsWholeRun()
    if (why !== undefined) skip(why)
  })
  const { folder, home, stateDir, project, secretFile, config, socketFile, remove, jail: place } = makePlace(maker)
  afterAll(remove)

  const servers = new Map<string, TestUpstreams>()
  afterAll(() => Promise.all([...servers.values()].map((server) => server.close())))

  /** Lets a server do something, and returns its output. Tests share a server for each kind of jail. */
  async function does(code: string, sandbox?: ServerSandbox): Promise<string> {
    const key = JSON.stringify(sandbox ?? 'no jail')
    const definition = sandbox ? jailed(intruder(), sandbox) : intruder()
    const server = servers.get(key) ?? openUnclosed([definition], { jail: place, cwd: project })
    servers.set(key, server)
    return textOf(await server.callTool('intruder', 'run', { code }))
  }

  it.each([
    ['a private key', secretFile],
    ['the sign-ins of the bridge', path.join(stateDir, '.sandbridge/tokens.json')],
    ["a config file with other servers' secrets", config],
    ['a private key through a link in the project', path.join(project, 'link')],
    ['the environment of the bridge', `/proc/${process.pid}/environ`],
  ])('a jailed server cannot read %s', async (_, file) => {
    expect(await does(read(file))).not.toMatch(/^failed/)
    expect(await does(read(file), { filesystem: { allowRead: [project] } })).toMatch(
      /^(failed: ENOENT|failed: EACCES)?$/,
    )
  })

  it('a jailed server cannot read what its definition denies, in a folder that it may write to', async () => {
    const file = path.join(project, '.env')
    const sandbox = { filesystem: { allowWrite: [project], denyRead: [file] } }
    expect(await does(read(file), { filesystem: { allowWrite: [project] } })).toBe(SECRET)
    expect(await does(read(file), sandbox)).toBe('failed: EACCES')
    expect(await does(write(file), sandbox)).toMatch(/^failed/)
  })

  it('a jailed server of a registry sees nothing of the user that its arguments name, nor the folder that the bridge runs in', async () => {
    if (/^\/(?:var\/)?tmp\//.test(import.meta.dirname)) skip('the server of this test is in /tmp, which jails hide')
    const notes = path.join(project, 'notes.txt')
    const { transport, ...rest } = intruder()
    const reads = async (
      origin: Partial<ServerDefinition>,
      sandbox: ServerSandbox = {},
      cwd = folder,
    ): Promise<string> => {
      const named = { ...(transport as StdioServer), args: [...(transport as StdioServer).args, project], sandbox }
      const upstreams = open([{ ...rest, ...origin, transport: named }], { jail: place, cwd })
      return textOf(await upstreams.callTool('intruder', 'run', { code: read(notes) }))
    }
    expect(await reads({})).toBe('notes of the project')
    expect(await reads({ isPublishers: true })).toBe('failed: ENOENT')
    expect(await reads({ isPublishers: true }, {}, project)).toBe('failed: ENOENT')
    expect(await reads({ isPublishers: true }, { filesystem: { allowRead: [project] } })).toBe('notes of the project')
  })

  it('a jailed server does not see the home folder through a link that its arguments name', async () => {
    const [diary, link] = [path.join(home, 'diary.txt'), path.join(folder, 'all')]
    writeFileSync(diary, SECRET)
    symlinkSync(home, link)
    const definition = intruder()
    ;(definition.transport as StdioServer).args.push(link)
    const reads = async (one: ServerDefinition): Promise<string> =>
      textOf(await open([one], { jail: place, cwd: project }).callTool('intruder', 'run', { code: read(diary) }))
    expect(await reads(definition)).toBe(SECRET)
    expect(await reads(jailed(definition))).toBe('failed: ENOENT')
  })

  it('a jailed server is started by a link in a folder that it sees, to a program elsewhere', async () => {
    const [node, script] = [path.join(folder, 'elsewhere/node'), path.join(folder, 'elsewhere/intruder.mjs')]
    mkdirSync(path.dirname(node))
    symlinkSync(process.execPath, node)
    copyFileSync((intruder().transport as StdioServer).args[0]!, script)
    const links = ['node', 'intruder.mjs'].map((name) => path.join(project, name))
    for (const link of links) symlinkSync(path.join(path.dirname(node), path.basename(link)), link)
    const [command, ...args] = links as [string, ...string[]]
    const definition = intruder()
    Object.assign(definition.transport, { command, args })
    const upstreams = open([jailed(definition)], { jail: place, cwd: project })
    const code = read(path.join(project, 'notes.txt'))
    expect(textOf(await upstreams.callTool('intruder', 'run', { code }))).toBe('notes of the project')
  })

  it('a jailed server reads the folder that it works in, and does not write there unless it may', async () => {
    const file = path.join(project, 'new.txt')
    expect(await does(read(path.join(project, 'notes.txt')), {})).toBe('notes of the project')
    expect(await does(write(file), {})).toBe('failed: EROFS')
    expect(existsSync(file)).toBe(false)
    expect(await does(write(file), { filesystem: { allowWrite: [project] } })).toBe('written')
    expect(readFileSync(file, 'utf8')).toBe('x')
  })

  it.each([
    ['the home folder of the user', () => path.join(home, '.bashrc')],
    ['a folder of temporary files', () => path.join(folder, 'planted')],
    ['hooks of a project that it may write to', () => path.join(project, '.git/hooks/pre-commit')],
    ['settings of the kernel', () => '/proc/sys/kernel/core_pattern'],
  ])('a jailed server cannot write to %s', async (what, file) => {
    if (!what.startsWith('settings')) {
      expect(await does(write(file()))).toBe('written')
      rmSync(file())
    }
    await does(write(file()), { filesystem: { allowWrite: [project] } })
    if (!what.startsWith('settings')) expect(existsSync(file())).toBe(false)
    else expect(readFileSync(file(), 'utf8')).not.toBe('x')
  })

  it('a jailed server keeps what it writes to its own home folder, and sees none of another server', async () => {
    const note = path.join(home, 'note.txt')
    expect(await does(write(note), {})).toBe('written')
    const next = open([jailed(intruder())], { jail: place, cwd: project })
    expect(textOf(await next.callTool('intruder', 'run', { code: read(note) }))).toBe('x')
    expect(existsSync(note)).toBe(false)
    const other = jailed({ ...intruder(), name: 'other' })
    const upstreams = open([other], { jail: place, cwd: project })
    expect(textOf(await upstreams.callTool('other', 'run', { code: read(note) }))).toBe('failed: ENOENT')
  })

  it.each<[string, () => string, ServerSandbox]>([
    ['by address, without a network', () => dial({ host: '127.0.0.1', port }), {}],
    ['by address, past the proxy', () => dial({ host: '127.0.0.1', port }), { network: { allowedDomains: ['*'] } }],
    ["by a Unix socket of the machine's", () => dial({ path: socketFile }), { network: true }],
    [
      'by a proxy of its own choice',
      () => `const process = { env: { HTTPS_PROXY: 'http://127.0.0.1:${port}' } }; ${through('api.example.com', 443)}`,
      { network: { allowedDomains: ['*'] } },
    ],
  ])('a jailed server cannot connect elsewhere %s', async (_, code, sandbox) => {
    await does(code())
    expect(visited()).toBe(true)
    expect(await does(code(), sandbox)).toMatch(/^failed/)
    expect(visited()).toBe(false)
  })

  it('a jailed server uses the network of the machine when its definition says so', async () => {
    expect(await does(dial({ host: '127.0.0.1', port }), { network: true })).toContain('reached')
    expect(visited()).toBe(true)
  })

  it.each([
    ['127.0.0.1', 'an address that is not public'],
    ['localhost', 'a name that leads to this machine'],
    ['0x7f.1', 'an address in disguise'],
    ['[::ffff:127.0.0.1]', 'an address inside another one'],
  ])('a jailed server cannot reach %s through the proxy that lets it reach the internet: %s', async (host) => {
    const answer = await does(through(host, port), { network: { allowedDomains: ['*'] } })
    expect(answer).toMatch(/^HTTP\/1.1 (403|502)/)
    expect(visited()).toBe(false)
  })

  it('a jailed server reaches through the proxy what its definition names, and is told what else was refused', async () => {
    const sandbox = { network: { allowedDomains: [`localhost:${port}`] } }
    expect(await does(through('localhost', port), sandbox)).toContain('reached')
    expect(visited()).toBe(true)
    const upstreams = open([jailed(intruder(), sandbox)], { jail: place, cwd: project })
    const answer = textOf(await upstreams.callTool('intruder', 'run', { code: through('evil.example', 443) }))
    expect(answer).toContain('evil.example is not among its allowedDomains')
    expect(upstreams.logged.join('\n')).toMatch(/refused a connection.*evil\.example/)
  })

  it('a jailed server reaches an allowed host with plain HTTP through the proxy, and no other', async () => {
    const page = createHttpServer((request, response) => response.end(`page of ${request.headers.host}`)).listen(0)
    await once(page, 'listening')
    const pagePort = (page.address() as AddressInfo).port
    const get = (url: string) => `return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(process.env.HTTP_PROXY)
      require('node:http').get({ hostname, port, path: '${url}', headers: { host: 'localhost' } }, (response) => {
        let text = ''
        response.on('data', (data) => (text += data)).on('end', () => resolve(text))
      }).on('error', reject)
    })`
    const sandbox = { network: { allowedDomains: ['localhost'] } }
    expect(await does(get(`http://localhost:${pagePort}/x`), sandbox)).toBe(`page of localhost:${pagePort}`)
    expect(await does(get(`http://127.0.0.1:${pagePort}/x`), sandbox)).toContain('not among its allowedDomains')
    page.close()
  })

  it.each([
    [
      'make namespaces',
      "return require('node:child_process').execFileSync('unshare', ['-r', 'echo', 'made']).toString()",
    ],
    [
      'see processes of the host',
      `return require('node:fs').readdirSync('/proc').includes('${process.pid}') ? 'seen' : Promise.reject(new Error('no'))`,
    ],
  ])('a jailed server cannot %s', async (_, code) => {
    expect(await does(code)).toMatch(/made|seen/)
    expect(await does(code, {})).toMatch(/^failed/)
  })

  it('a jailed server ends with its connection, and with everything that it started', async () => {
    const upstreams = open([jailed(intruder())], { jail: place, cwd: project })
    const code =
      "const child = require('node:child_process').spawn('sleep', ['1234567'], { detached: true, stdio: 'ignore' }); child.unref(); return child.pid"
    await upstreams.callTool('intruder', 'run', { code })
    const { execFileSync } = await import('node:child_process')
    const sleepers = () => execFileSync('sh', ['-c', "pgrep -f '^sleep 1234567' || true"]).toString().trim()
    await until(() => sleepers() !== '')
    const pid = Number(sleepers().split('\n')[0])
    await upstreams.close()
    // Waits until the detached process that the server has started is gone.
    await until(() => !isAlive(pid))
  })

  it('a jailed server can be a published one, which sees its folder and nothing else', async () => {
    const sandbox = { filesystem: { allowWrite: [project] } }
    const upstreams = open([jailed(published('filesystem', project), sandbox)], { jail: place, cwd: project })
    const call = async (tool: string, args: Record<string, unknown>) =>
      textOf(await upstreams.callTool('filesystem', tool, args))
    expect(await call('read_text_file', { path: path.join(project, 'notes.txt') })).toBe('notes of the project')
    await call('write_file', { path: path.join(project, 'written.txt'), content: 'by a jailed server' })
    expect(readFileSync(path.join(project, 'written.txt'), 'utf8')).toBe('by a jailed server')
  })

  it('a jailed server is not started when its definition opens the whole home folder, or the files of the bridge', async () => {
    for (const opened of [home, '/', stateDir]) {
      await expect(does(read('/etc/hostname'), { filesystem: { allowWrite: [opened] } })).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringMatching(/holds (your whole home folder|the files of this bridge)/) as string,
      })
    }
  })

  it('a jailed server whose command is missing is reported like any other', async () => {
    const transport: StdioServer = { type: 'stdio', command: 'uvx-that-is-not-there', args: [], env: {}, sandbox: {} }
    const upstreams = open([{ ...intruder(), transport }], { jail: place, cwd: project })
    await expect(upstreams.callTool('intruder', 'run', {})).rejects.toThrow('`uvx-that-is-not-there` was not found')
  })
})

it('a server that is to be jailed is not started where no jails can be made', async () => {
  const upstreams = open([jailed(intruder())])
  await expect(upstreams.callTool('intruder', 'run', {})).rejects.toMatchObject({ code: 'UPSTREAM_JAIL_UNAVAILABLE' })
})
