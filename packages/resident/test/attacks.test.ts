// @module-tag whole: client-mixing.test.ts has the wall between clients
// What clients of a resident bridge and hostile programs of the same user can try against it, and what becomes of it.
// Each group has a control in which the same attack, or its harmless twin, succeeds.
import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { Bridge } from '../../core/src/bridge/bridge.ts'
import { readSettings } from '../../core/src/config/settings/settings.ts'
import { controlLine } from '../src/reach/protocol.ts'
import { residentKey } from '../src/resident-key.ts'
import { SocketTransport } from '../src/process/socket-transport.ts'
import { SILENT } from '../../core/src/util/log.ts'
import { atEnd, runsTogether } from '@sandbridge/core/test/support/suite/at-end.ts'
import { bridgeEnv, CLI, fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { makeCertificate } from '@sandbridge/core/test/support/machine/make-certificate.ts'
import { needsBubblewrap, needsPosix, needsRoot } from '@sandbridge/core/test/support/suite/needs.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { isAlive, residentHome, sharedResidentHome } from '@sandbridge/core/test/support/bridges/resident-clients.ts'
import type { RelayClient, ResidentHome } from '@sandbridge/core/test/support/bridges/resident-clients.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

runsTogether()
beforeEach(() => needsPosix('residents of Windows have tests of their own: windows.test.ts'))

const OBSERVERS = { MCP_BRIDGE_AUDIT: 'off', MCP_BRIDGE_POOL: '0' }

/**
 * Two clients in different folders, with variables of their own, that have the same entry.
 * @returns how many clients use the process that would serve the second one
 */
async function usersOf(entry: object, envs: [object, object], prepare?: (cwd: string) => void): Promise<unknown> {
  const home = makeHome({ it: { ...fixtureServer('whoami.mjs'), cwd: '/', ...entry } })
  const folders = realpathSync(newFolder())
  const base = bridgeEnv(home, OBSERVERS)
  const bridge = await Bridge.open(readSettings({ ...base, MCP_BRIDGE_SOURCES: 'mcps' }, { home }), SILENT, {
    isResident: true,
  })
  atEnd(async () => {
    await bridge.close()
    for (const one of [home, folders]) rmSync(one, { recursive: true, force: true, maxRetries: 3 })
  })
  const clients = envs.map((env, index) => {
    const cwd = path.join(folders, String(index))
    mkdirSync(cwd)
    prepare?.(cwd)
    return bridge.connect({ env: { ...base, ...env }, cwd, home, ownPaths: [] }, SILENT)
  })
  await Promise.all(clients.map((client) => client.now()))
  return clients[1]!.sharing()[0]!.clients
}

const NOTHING: [object, object] = [{}, {}]
const FAR = { command: undefined, args: undefined, cwd: undefined, url: 'http://far.invalid/mcp' }
const jail = (filesystem: object): object => ({ sandbox: { filesystem } })

describe.concurrent('a client cannot come to a process that works for another one', () => {
  it.each([
    ['control: the same entry', {}, NOTHING],
    ['control: absolute paths', { envFile: '/etc/hosts', ...jail({ allowWrite: ['/srv', '~/x'] }) }, NOTHING],
    ['control: a variable that it neither names nor inherits', {}, [{ OTHER: 'a' }, { OTHER: 'b' }]],
    ['control: another terminal', {}, [{ TERM: 'a' }, { TERM: 'b' }]],
    ['control: a server over HTTP', FAR, [{ OTHER: 'a' }, { OTHER: 'b' }]],
    ['control: "shared": true', { cwd: undefined, shared: true }, NOTHING],
  ] as [string, object, [object, object]][])('%s', async (_, entry, envs) => {
    expect(await usersOf(entry, envs)).toBe(2)
  })

  const variables: [object, object] = [{ WORK: '/srv/a' }, { WORK: '/srv/b' }]
  it.each([
    ['the folder of the other, as an argument', { args: ['${workspaceFolder}'] }, NOTHING],
    ['by its other name', { args: ['${workspaceRoot}'] }, NOTHING],
    ['its name alone', { args: ['${workspaceFolderBasename}'] }, NOTHING],
    ['in the jail', jail({ allowWrite: ['${workspaceRoot}/data'] }), NOTHING],
    ['as a relative path in the jail', jail({ allowWrite: ['.'] }), NOTHING],
    ['as one to read, of a server that is marked as shared', { shared: true, ...jail({ allowRead: ['x'] }) }, NOTHING],
    ['a file of secrets beside it', { envFile: '.env' }, NOTHING],
    ['a file in it', { env: { TOKEN: '${file:token:-none}' } }, NOTHING],
    ['a variable', { env: { WORK: '${WORK}' } }, variables],
    ['a variable in the jail', jail({ allowWrite: ['/srv/${env:WORK}'] }), variables],
    ['a domain of the jail', { sandbox: { network: { allowedDomains: ['${WORK}'] } } }, variables],
    ['an inherited variable', { inheritEnv: ['WORK'] }, variables],
    ['its language', {}, [{ LANG: 'de_DE.UTF-8' }, { LANG: 'C' }]],
    ['its user', {}, [{ USER: 'ann' }, { USER: 'bob' }]],
    ['its proxy', {}, [{ HTTPS_PROXY: 'http://ann:secret@localhost:1' }, {}]],
    ['its proxy, to a server over HTTP', FAR, [{ HTTP_PROXY: 'http://ann:secret@localhost:1' }, {}]],
    ['its exceptions to a proxy, there', FAR, [{ NO_PROXY: 'localhost' }, { no_proxy: '*' }]],
    ['a blank variable instead of a missing one', { env: { A: '${A:-x}', B: '${A-x}' } }, [{ A: '' }, { A: ' ' }]],
  ] as [string, object, [object, object]][])('%s', async (_, entry, envs) => {
    expect(await usersOf(entry, envs)).toBe(1)
  })

  it('a file in its folder, of the same size and time', async () => {
    const prepare = (cwd: string): void => writeFileSync(path.join(cwd, 'token'), path.basename(cwd))
    expect(await usersOf({ env: { TOKEN: '${file:token}' } }, NOTHING, prepare)).toBe(1)
  })
})

describe.concurrent('the client that is first, whose environment the resident starts with', () => {
  const USUAL = '/usr/local/bin:/usr/bin:/bin'

  /**
   * Two clients, the first with a folder of its own on PATH, into which a program then comes.
   * @returns whether it ran
   */
  async function runsForOther(program: string, env: Record<string, string>): Promise<boolean> {
    const { connect, home, residents } = residentHome({}, env)
    const folder = path.join(home, 'planted')
    mkdirSync(folder)
    const plant = (): void =>
      writeFileSync(path.join(folder, program), `#!/bin/sh\ntouch ${home}/ran\nexit 1\n`, { mode: 0o755 })
    const ann = await connect('ann', { PATH: `${folder}:${USUAL}` })
    const isAlone = env['MCP_BRIDGE_RESIDENT'] === 'off'
    const bob = isAlone ? ann : await connect('bob', { PATH: USUAL })
    expect(residents()).toHaveLength(isAlone ? 0 : 1)
    plant()
    await bob.run('1')
    return existsSync(path.join(home, 'ran'))
  }

  it.each([
    ['podman', 'an engine that comes later'],
    ['setpriv', 'a program that bubblewrap is started with'],
  ])('cannot bring %s, %s, for others', async (program) => {
    if (program === 'setpriv') {
      needsBubblewrap()
      needsRoot('another user starts bubblewrap without setpriv')
    }
    const env = { MCP_BRIDGE_RUNTIME: program === 'podman' ? 'podman' : 'bubblewrap' }
    // Control: its own cell runs it.
    expect(await runsForOther(program, { ...env, MCP_BRIDGE_RESIDENT: 'off' })).toBe(true)
    expect(await runsForOther(program, env)).toBe(false)
  })

  it('cannot have the certificates of others unchecked', async () => {
    let reached = 0
    const server = createTlsServer(makeCertificate(), (_, response) => {
      reached += 1
      response.writeHead(404).end()
    })
    await new Promise<void>((resolve) => server.listen(0, resolve))
    atEnd(() => void server.close())
    const { port } = server.address() as AddressInfo
    const { connect } = residentHome({ far: { url: `https://localhost:${port}/mcp` } })
    const ann = await connect('ann', { NODE_TLS_REJECT_UNAUTHORIZED: '0' })
    const bob = await connect('bob')
    await bob.run('await mcp_far.anything()')
    expect(reached).toBe(0)
    // Control: the same server, for the client that does not want it checked.
    await ann.run('await mcp_far.anything()')
    expect(reached).toBeGreaterThan(0)
  })
})

describe.concurrent('a jailed server that may write to the folder for temporary files', () => {
  it.each([
    ['is refused where the socket of the resident is there', 'a-long-name'.repeat(9), /holds the files of this bridge/],
    ['starts where it is not: control', 'MCPs', /^ann$/],
  ])('%s', async (_, state, said) => {
    needsBubblewrap()
    const { home, connect } = residentHome({})
    const [temporary, stateDir] = [path.join(home, 'tmp'), path.join(home, state)]
    for (const folder of [temporary, stateDir]) mkdirSync(folder, { recursive: true })
    // Where the bridge is root's, jailed servers are another user's.
    chmodSync(home, 0o755)
    const who = {
      ...fixtureServer('whoami.mjs'),
      env: { WHO: 'ann' },
      sandbox: { filesystem: { allowWrite: [temporary] } },
    }
    writeFileSync(path.join(stateDir, 'servers.json'), JSON.stringify({ mcpServers: { who } }))
    const ann = await connect('ann', { MCP_BRIDGE_STATE_DIR: stateDir, TMPDIR: temporary })
    const answer = await ann.run('print((await mcp_who.who())["who"])')
    // Its log is not where `residentHome` looks for residents that are to end.
    ann.process.stdin!.end()
    await ann.exited
    // Once more where a folder is deleted while they are listed.
    const left = (): string[] => readdirSync(home, { recursive: true, encoding: 'utf8' })
    await expect.poll(() => left().filter((name) => name.endsWith('.d'))).toEqual([])
    await sleep(500)
    expect(answer).toMatch(said)
  })
})

/** Connections of a program of the same user, which never close their half. */
function connections(folder: string, count: number, say = ''): { isOver: () => boolean }[] {
  const name = readdirSync(folder).find((one) => one.endsWith('.d'))!
  return Array.from({ length: count }, () => {
    const socket = connectSocket({ path: path.join(folder, name, 's'), allowHalfOpen: true })
    atEnd(() => void socket.destroy())
    let isOver = false
    socket
      .on('error', () => {})
      .on('close', () => (isOver = true))
      .resume()
    if (say !== '') socket.write(say)
    // Node ends its own half once the other side is gone altogether: only a write finds that out.
    return { isOver: () => isOver || !socket.write(' ') || isOver }
  })
}

const FORGED = { hello: 1, key: 'guessed', pid: 1, env: {}, cwd: '/', home: '/', ownPaths: [] } as const

describe.concurrent('a program of the same user that connects', () => {
  it.each([
    ['with a forged hello', controlLine(FORGED)],
    ['with two of them', controlLine(FORGED) + controlLine(FORGED)],
  ])('%s takes no place of a client, and is disconnected', async (_, hello) => {
    const { connect, folder, residents } = residentHome({})
    const ann = await connect('ann')
    const hostile = connections(folder, 100, hello)
    await sleep(300)
    const bob = await connect('bob')
    expect(await bob.run('print(1)')).toBe('1')
    expect({ said: bob.said(), residents: residents().length }).toEqual({ said: '', residents: 1 })
    await until(() => hostile.every(({ isOver }) => isOver()))
    expect(await ann.run('print(2)')).toBe('2')
  })

  it('and says nothing, again and again, takes no place of a client', async () => {
    const { connect, command, folder, residents } = residentHome({})
    const ann = await connect('ann')
    const found = connections(folder, 100)
    const again = setInterval(() => {
      for (const [index, { isOver }] of found.entries())
        if (isOver()) [found[index]] = connections(folder, 1) as [never]
    }, 50)
    atEnd(() => clearInterval(again))
    const bob = await connect('bob')
    expect(await bob.run('print(1)')).toBe('1')
    expect({ said: bob.said(), residents: residents().length }).toEqual({ said: '', residents: 1 })
    expect(command('status').stdout).toContain('client ')
    expect(await ann.run('print(2)')).toBe('2')
  })

  it('and says nothing, a thousand times, takes no place of a client', async () => {
    const { connect, folder, residents } = residentHome({})
    await connect('ann')
    connections(folder, 1_000)
    const bob = await connect('bob')
    expect(await bob.run('print(1)')).toBe('1')
    expect({ said: bob.said(), residents: residents().length }).toEqual({ said: '', residents: 1 })
  })
})

const line = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message })
const HOSTILE_LINES = [
  '[]',
  'null',
  '{}',
  '{',
  '\u0000',
  line({ id: 1, result: {} }),
  line({ id: null, method: 'ping' }),
  ...[{ stop: true }, { status: true }, { ...FORGED, ownPaths: [] }].map((said) => controlLine(said as never).trim()),
  line({ id: 1, method: 'tools/call', params: null }),
  line({ id: '__proto__', method: 'ping' }),
  line({ id: 'i'.repeat(5_000), method: 'ping' }),
  line({ id: 2, method: 'logging/setLevel', params: { level: 'none' } }),
  line({ id: 3, method: 'resources/read', params: { uri: 'sandbridge://output/../../x' } }),
  line({ id: 4, method: 'initialize', params: {} }),
  line({ id: 5, method: 'completion/complete' }),
  line({ method: 'notifications/cancelled' }),
  line({ method: 'notifications/cancelled', params: { requestId: {} } }),
  line({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } }),
  line({ method: 'notifications/roots/list_changed' }),
  `[${line({ id: 6, method: 'ping' })}]`,
]

/** Of the attacks that end nobody, each of which finds that itself. */
const shared = sharedResidentHome({})

describe('a client that is hostile', () => {
  const two = async (): Promise<{ ann: RelayClient; bob: RelayClient; pid: number }> => {
    const { connect, residents } = await shared()
    const [ann, bob] = [await connect('ann'), await connect('bob')]
    return { ann, bob, pid: residents()[0]! }
  }
  const say = ({ process: { stdin } }: RelayClient, ...lines: string[]): void =>
    lines.forEach((one) => stdin!.write(`${one}\n`))

  it('cannot end the resident with any line, and others hear nothing of it', async () => {
    const { ann, bob, pid } = await two()
    await ann.run('kept = 1')
    say(bob, ...HOSTILE_LINES)
    expect(await bob.ask('ping')).toMatchObject({ result: {} })
    // Control: it does get answers to what is a request.
    expect(bob.unasked).toContainEqual(expect.objectContaining({ id: '__proto__', result: {} }))
    expect(await ann.run('print(kept)')).toBe('1')
    expect(ann.unasked).toEqual([])
    expect(isAlive(pid)).toBe(true)
  })

  it('cannot cancel the request of another by its id', async () => {
    const { ann, bob } = await two()
    const cancels = ['ann-2', 'ann-3', 0, 1, 2].map((requestId) =>
      line({ method: 'notifications/cancelled', params: { requestId } }),
    )
    const open = ann.run('import time\ntime.sleep(2)\nprint("whole")')
    await sleep(500)
    say(bob, ...cancels)
    expect(await open).toBe('whole')
    // Control: the same lines of its own client do.
    let isAnswered = false
    void ann.run('import time\ntime.sleep(1)').then(() => (isAnswered = true))
    await sleep(500)
    say(ann, ...cancels)
    await sleep(1_500)
    expect(isAnswered).toBe(false)
  })

  it('cannot read the output of another, with whose ids its own collide', async () => {
    const { ann, bob } = await two()
    const code = (word: string): string => `for i in range(20_000): print("${word}", i)`
    const uriOf = (text: string): string => /sandbridge:\/\/output\/[\w/-]+/.exec(text)?.[0] ?? 'none'
    const uri = uriOf(await ann.run(code('of-ann')))
    const read = async (client: RelayClient): Promise<string> =>
      JSON.stringify(await client.ask('resources/read', { uri }))
    expect(await read(ann)).toContain('of-ann')
    expect(await read(bob)).not.toContain('of-ann')
    await bob.run(code('of-bob'))
    expect(await read(bob)).not.toContain('of-ann')
    expect(JSON.stringify(await bob.ask('resources/list'))).not.toContain(uri)
  })
})

describe('a command that is hostile', () => {
  const CONTROL: [object[], string[]] = [[], ['exec', '-c', '1 + 1']]
  /** Everything that the resident says to a command which says these things, once it has ended or for some seconds. */
  const saidTo = async (said: object[], words: string[]): Promise<string> => (await saidInTurn([[said, words]]))[0]!
  let keeper: RelayClient | undefined
  /** One command after the other. */
  const saidInTurn = async (commands: [said: object[], words: string[]][]): Promise<string[]> => {
    const house = await shared()
    const ann = (keeper ??= await house.connect('ann'))
    await ann.run('kept = 1')
    const heard: string[] = []
    for (const [said, words] of commands) heard.push(await hears(house, ann, said, words))
    return heard
  }
  const hears = async (house: ResidentHome, ann: RelayClient, said: object[], words: string[]): Promise<string> => {
    const pid = house.residents()[0]!
    const { cwd, env } = house.placeOf('ann')
    const key = residentKey({ env, cwd, home: house.home }).text
    const name = readdirSync(house.folder).find((one) => one.endsWith('.d'))!
    const socket = connectSocket(path.join(house.folder, name, 's'))
    atEnd(() => void socket.destroy())
    let heard = ''
    socket.on('data', (chunk) => (heard += chunk.toString())).on('error', () => {})
    const over = new Promise((resolve) => socket.once('close', resolve))
    const ownPaths = [CLI]
    socket.write(controlLine({ hello: 1, key, pid: 1, env, cwd, home: house.home, ownPaths, isCommand: true }))
    // What comes before the welcome is dropped.
    await until(() => heard.includes('welcome'))
    const plain = { isTTY: false }
    const run = { run: { words, stdin: plain, stdout: plain, stderr: plain } }
    for (const one of [run, ...said]) socket.write(controlLine(one as never))
    // What waits for its input does not end.
    const limit = Date.now() + (words.includes('-') ? 3_000 : 30_000)
    await Promise.race([over, until(() => heard.includes('{"exit"') || Date.now() > limit)])
    expect(await ann.run('print(kept)')).toBe('1')
    expect(ann.unasked).toEqual([])
    expect({ isAlive: isAlive(pid), residents: house.residents().length }).toEqual({ isAlive: true, residents: 1 })
    return heard
  }

  it('runs a command: control', async () => {
    expect(await saidTo(...CONTROL)).toContain('{"exit":0}')
  })

  it.each([
    ['input after its end', [{ typed: null }, { typed: 'eA==' }, { typed: null }, { typed: 5 }]],
    ['strange sizes and signals', [{ size: -1 }, { size: { columns: -5, rows: 1e300 } }, { signal: 'SIGKILL' }]],
    ['another command', [{ run: { words: ['exec', '-c', 'print("second")'] } }, { run: [] }]],
    ['another hello, and an end in the middle', [FORGED, { signal: 'SIGTERM' }, { signal: 'SIGINT' }]],
  ])('%s ends nobody', async (_, said) => {
    expect(await saidTo(said, ['exec', '-'])).not.toContain('second')
  })

  it('cannot have the resident run what is not a command of a user', async () => {
    const commands = [[], ['run'], ['stop'], ['-v', 'run'], ['resident', 'x'], ['init', '--yes'], ['help']]
    const heard = await saidInTurn([...commands.map((words): [object[], string[]] => [[], words]), CONTROL])
    expect(heard.map((text) => text.includes('"out"'))).toEqual([...commands.map(() => false), true])
  })
})

it('a command whose input has no end fills neither the resident nor its own process', async () => {
  const { connect, placeOf, residents } = residentHome({})
  const ann = await connect('ann')
  await ann.run('kept = 1')
  const { cwd, env } = placeOf('ann')
  // Whatever cannot be passed on at once would fill such a small heap.
  const command = `yes '#' | "${process.execPath}" --max-old-space-size=64 "${CLI}" exec -`
  const { code, stderr } = await runProgram('sh', ['-c', command], env, { cwd })
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('longer than 64 MiB') as string })
  expect(await ann.run('print(kept)')).toBe('1')
  expect(residents()).toHaveLength(1)
})

describe('a client that never reads', () => {
  it.each([
    ['control: reads', true],
    ['loses its connection before 300 MB wait for it', false],
  ])('%s', async (_, reads) => {
    const folder = newFolder()
    const accepted = new Promise<Socket>((resolve) => {
      const server = createServer(resolve).listen(path.join(folder, 's'))
      atEnd(() => void server.close(() => rmSync(folder, { recursive: true, force: true })))
    })
    const client = connectSocket(path.join(folder, 's'))
    if (reads) client.resume()
    else client.pause()
    const socket = await accepted
    atEnd(() => [client, socket].forEach((one) => void one.destroy()))
    const transport = new SocketTransport(socket)
    // All at once, as the answers to requests that came in one piece.
    const text = 'x'.repeat(2 ** 20)
    const send = async (): Promise<boolean> =>
      transport.send({ jsonrpc: '2.0', id: 1, result: { text } }).then(
        () => true,
        () => false,
      )
    const sent: Promise<boolean>[] = []
    for (let count = 0; count < 300; count += 1) {
      const one = send()
      sent.push(one)
      if (reads) await one
    }
    expect((await Promise.all(sent)).every(Boolean)).toBe(reads)
    expect(socket.destroyed).toBe(!reads)
  })
})

describe.concurrent('settings.json of a resident', () => {
  it('holds for each client from its next cell on, and while it is broken none runs code', async () => {
    const { connect, home } = residentHome({ who: fixtureServer('whoami.mjs') })
    const clients = [await connect('ann'), await connect('bob')]
    const file = path.join(home, 'MCPs/settings.json')
    const call = 'print((await mcp_who.who())["home"])'
    const inTurn = async (): Promise<string[]> => [await clients[0]!.run(call), await clients[1]!.run(call)]
    const settings = (content: object): string => JSON.stringify(content)
    // Control: one of a project, and of the client's own folder, changes nothing.
    for (const folder of ['bob', 'bob/.sandbridge']) {
      mkdirSync(path.join(home, folder), { recursive: true })
      writeFileSync(path.join(home, folder, 'settings.json'), settings({ permissions: { preset: 'readonly' } }))
    }
    expect(await inTurn()).toEqual([home, home])
    writeFileSync(file, settings({ permissions: { preset: 'readonly' } }), { mode: 0o600 })
    for (const text of await inTurn()) expect(text).toMatch(/PERMISSION|denied|read-only/i)
    writeFileSync(file, '{"permissions": {"presets": "hunter2-hunter2"}}')
    for (const text of await inTurn()) {
      expect(text).toMatch(/settings\.json/)
      expect(text).not.toContain('hunter2')
    }
    writeFileSync(file, settings({ permissions: { preset: 'open' } }))
    expect(await inTurn()).toEqual([home, home])
  })

  it('is read again by a cell of each client, and each is told what needs a new start', async () => {
    const { connect, home } = residentHome({})
    const [ann, bob] = [await connect('ann'), await connect('bob')]
    await Promise.all([ann.run('1'), bob.run('1')])
    writeFileSync(path.join(home, 'MCPs/settings.json'), '{"sandbox": {"memory": "1g"}}', { mode: 0o600 })
    expect(await ann.run('print(1)')).toContain('sandbox.memory has changed')
    expect(await bob.run('print(1)')).toContain('sandbox.memory has changed')
  })
})
