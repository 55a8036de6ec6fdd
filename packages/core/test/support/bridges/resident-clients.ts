// Clients of one resident bridge, each behind its own relay as an MCP client would start it, and what a test does to
// the processes between them.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll } from 'vitest'
import { atEnd } from '../suite/at-end.ts'
import { bridgeEnv, CLI, makeHome, type RemoteEntry, type ServerEntry } from './bridge-process.ts'
import { until } from '../machine/processes.ts'
import { linkCode, WARM_CACHES } from '../sandboxes/warm-files.ts'

export interface RelayClient {
  process: ChildProcess
  /** Everything that the relay wrote to stderr. */
  said: () => string
  /** Every line that is neither an answer nor expected. */
  unasked: Record<string, unknown>[]
  /** The answer to its handshake. */
  welcome?: Record<string, unknown>
  ask: (method: string, params?: object) => Promise<Record<string, unknown>>
  /** Begins to talk to the bridge. */
  initialize: (capabilities?: object) => Promise<void>
  /** The text of a cell's result. */
  run: (code: string) => Promise<string>
  exited: Promise<number | NodeJS.Signals | null>
}

export interface ResidentHome {
  home: string
  /** The folder in which residents are found. */
  folder: string
  /** A client in a folder of its own, after its handshake. */
  connect: (name: string, env?: Record<string, string>, capabilities?: object) => Promise<RelayClient>
  /** Runs another command of the user. */
  command: (...words: string[]) => { code: number | null; stdout: string; stderr: string }
  /** The folder and the environment of a client, for commands that its user types there. */
  placeOf: (name: string, env?: Record<string, string>) => { cwd: string; env: Record<string, string> }
  /** Only starts the process. */
  start: (name: string, env?: Record<string, string>) => RelayClient
  /** The process ids of all residents that had a name, in order. */
  residents: () => number[]
}

/**
 * Its resident ends a second after its last client, unless the test says otherwise.
 * @param cli the program, where it is not the built one
 * @param whenOver gets what ends and removes everything: with the test, unless several share it
 */
export function residentHome(
  servers: Record<string, ServerEntry | RemoteEntry>,
  env: Record<string, string> = {},
  cli = CLI,
  whenOver: (end: () => Promise<void>) => void = atEnd,
): ResidentHome {
  const home = makeHome(servers)
  const folder = path.join(home, 'MCPs/.sandbridge/run')
  const started: RelayClient[] = []
  const residents = (): number[] => {
    const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory()
    const logs = isFolder ? readdirSync(folder).filter((name) => name.endsWith('.log')) : []
    const text = logs.map((name) => readFileSync(path.join(folder, name), 'utf8')).join('')
    return [...text.matchAll(/bridge runs pid=(\d+)/g)].map((found) => Number(found[1]))
  }
  whenOver(async () => {
    for (const client of started) client.process.kill('SIGKILL')
    await Promise.all(started.map(({ exited }) => exited))
    // One that a relay had just started takes the name once the other has ended.
    for (let ended = -1; ended < residents().length; await sleep(started.length > 2 ? 500 : 0)) {
      ended = residents().length
      for (const pid of residents()) kill(pid, 'SIGCONT')
      for (const pid of residents()) kill(pid, 'SIGTERM')
      await until(() => residents().every((pid) => !isAlive(pid)))
    }
    linkCode(path.join(home, 'cache'), WARM_CACHES)
    // On a busy machine, one that has not said its id yet writes there until it ends by itself.
    await until(() => isRemoved(home))
  })
  const settings = { MCP_BRIDGE_RESIDENT: 'on idle=1', MCP_BRIDGE_SOURCES: 'mcps' }
  const envOf = (name: string, own: Record<string, string> = {}) =>
    bridgeEnv(home, { ...settings, WHO: name, ...env, ...own })
  const placeOf: ResidentHome['placeOf'] = (name, own) => {
    const cwd = path.join(home, name)
    mkdirSync(cwd, { recursive: true })
    return { cwd, env: envOf(name, own) }
  }
  const start: ResidentHome['start'] = (name, own = {}) => {
    const child = spawn(process.execPath, [cli, 'run'], { ...placeOf(name, own), stdio: ['pipe', 'pipe', 'pipe'] })
    const client = talkTo(child, name)
    started.push(client)
    return client
  }
  return {
    home,
    folder,
    start,
    residents,
    placeOf,
    command: (...words) => {
      const ran = spawnSync(process.execPath, [cli, ...words], { env: envOf('user'), encoding: 'utf8' })
      return { code: ran.status, stdout: ran.stdout, stderr: ran.stderr }
    },
    connect: async (name, own, capabilities = {}) => {
      const client = start(name, own)
      await client.initialize(capabilities)
      return client
    },
  }
}

/** One home and one resident for several tests, each of which has clients with names of its own. */
export function sharedResidentHome(servers: Record<string, ServerEntry | RemoteEntry>): () => Promise<ResidentHome> {
  let shared: Promise<ResidentHome> | undefined
  let end: (() => Promise<void>) | undefined
  afterAll(() => end?.())
  const begin = async (): Promise<ResidentHome> => {
    const home = residentHome(servers, {}, CLI, (close) => (end = close))
    // The resident would end soon after the clients of a test.
    await home.connect('keeper')
    return home
  }
  return () => (shared ??= begin())
}

function talkTo(child: ChildProcess, name: string): RelayClient {
  const waiting = new Map<string, (answer: Record<string, unknown>) => void>()
  const unasked: Record<string, unknown>[] = []
  let said = ''
  let count = 0
  child.stderr!.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stdin!.on('error', () => {})
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const message = JSON.parse(line) as Record<string, unknown>
    const answer = message['method'] === undefined ? waiting.get(String(message['id'])) : undefined
    if (!answer) return unasked.push(message)
    waiting.delete(String(message['id']))
    return answer(message)
  })
  const ask: RelayClient['ask'] = (method, params = {}) => {
    const id = `${name}-${(count += 1)}`
    child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return new Promise((resolve) => waiting.set(id, resolve))
  }
  const client: RelayClient = {
    process: child,
    said: () => said,
    unasked,
    ask,
    initialize: async (capabilities = {}) => {
      const clientInfo = { name: 'inspector-cli', version: '1' }
      client.welcome = await ask('initialize', { protocolVersion: '2025-06-18', capabilities, clientInfo })
      child.stdin!.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    },
    run: async (code) => {
      const { result } = await ask('tools/call', { name: 'run_python', arguments: { code } })
      const { content } = result as { content: { text?: string }[] }
      return content.map(({ text }) => text).join('\n')
    },
    exited: new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal))),
  }
  return client
}

function isRemoved(folder: string): boolean {
  try {
    rmSync(folder, { recursive: true, force: true })
    return true
  } catch {
    return false
  }
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // Elsewhere, what has ended is soon gone.
    return process.platform !== 'linux' || !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
