// Three clients with three servers each, with one resident bridge and with a bridge for each: processes, memory, and
// the time from a start to the list of tools. The ways take turns, so that the load of the machine is the same for all.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createInterface } from 'node:readline'
import { bridgeEnv, CLI, makeHome, published } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runtimeEnv } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { median, ms, timed } from '../../../bench/measure.ts'
import type { BenchRow } from '../../../bench/row.ts'

const CLIENTS = 3
const MANY = 20
const STARTS = 15
const CELLS = 60
const WARM_UP = 40
/** Servers and sandboxes are ready. */
const SETTLED_MS = 2_000
const USE =
  'await mcp_everything.echo(message="a")\nawait mcp_memory.read_graph()\nawait mcp_files.list_allowed_directories()'

interface BenchClient {
  process: ChildProcess
  ask: (method: string, params?: object) => Promise<unknown>
  run: (code: string) => Promise<unknown>
  end: () => Promise<void>
}

export default async function residentRows(): Promise<BenchRow[]> {
  if (process.platform !== 'linux') {
    const value = 'memory is counted in /proc'
    return [{ name: 'one resident for three clients', value, goal: 'Linux', ok: null }]
  }
  const home = makeHome({
    everything: { ...published.everything(), cwd: '/' },
    memory: { ...published.memory(path.join(tmpdir(), 'sandbridge-bench-memory.json')), cwd: '/' },
    files: { ...published.filesystem(tmpdir()), cwd: '/' },
  })
  const env = (resident: 'on' | 'off') =>
    bridgeEnv(home, { ...runtimeEnv('bubblewrap'), MCP_BRIDGE_RESIDENT: `${resident} idle=60` })
  try {
    const without = await crowd(env('off'))
    const together = await crowd(env('on'))
    const keeper = await connect(env('on'))
    await keeper.run(USE)
    await sleep(SETTLED_MS)
    const rows = [
      ...sizeRows(without, together),
      await startRow(env),
      await firstRow(env('off'), { ...env('on'), MCP_BRIDGE_RESIDENT: 'on idle=0' }),
      await relayRow(env('on')),
      ...(await cellRows(env)),
      await execRow(env('on')),
    ]
    await keeper.end()
    return rows
  } finally {
    execFileSync(process.execPath, [CLI, 'stop'], { env: env('on'), stdio: 'ignore' })
    await sleep(SETTLED_MS)
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

function sizeRows(without: Size, together: Size): BenchRow[] {
  const all = `${CLIENTS} clients × 3 servers, bubblewrap`
  return [
    {
      name: `${all}: processes of servers`,
      value: `${together.servers} (without a resident ${without.servers})`,
      goal: '3',
      ok: together.servers === 3,
    },
    {
      name: `${all}: memory (PSS)`,
      value: `${together.megabytes} MB in ${together.processes} processes (without ${without.megabytes} MB in ${without.processes})`,
      goal: '≤ 260 MB',
      ok: together.megabytes <= 260,
    },
  ]
}

/** @param more behind the two medians */
function ratioRow(name: string, above: number[], below: number[], limit: number, more = ''): BenchRow {
  const ratio = median(above) / median(below)
  return {
    name,
    value: `${ratio.toFixed(2)} × (${ms(median(above))}, ${ms(median(below))}${more})`,
    goal: `≤ ${limit} ×`,
    ok: ratio <= limit,
  }
}

async function startRow(env: (resident: 'on' | 'off') => Record<string, string>): Promise<BenchRow> {
  const [on, off, node]: number[][] = [[], [], []]
  for (let count = 0; count < STARTS; count += 1) {
    off!.push(await timed(() => untilListed(env('off'))))
    on!.push(await timed(() => untilListed(env('on'))))
    node!.push(await timed(() => ended(spawn(process.execPath, ['-e', '0']))))
  }
  return ratioRow('start → tools/list with a resident ÷ without', on!, off!, 0.4, `; node -e 0: ${ms(median(node!))}`)
}

/** The first client of a resident, in a folder where clients were served before. */
async function firstRow(off: Record<string, string>, on: Record<string, string>): Promise<BenchRow> {
  // The first reads the servers, and the second is told of them, for the next ones.
  for (let count = 0; count < 2; count += 1) {
    const client = await connect(on)
    await sleep(SETTLED_MS)
    await client.end()
    await sleep(SETTLED_MS)
  }
  const [first, without]: number[][] = [[], []]
  for (let count = 0; count < STARTS; count += 1) {
    without!.push(await timed(() => untilListed(off)))
    first!.push(await timed(() => untilListed(on)))
    // Its resident starts for nobody, and ends.
    await sleep(SETTLED_MS)
  }
  return ratioRow('start → tools/list where no resident runs ÷ without', first!, without!, 0.5)
}

async function relayRow(env: Record<string, string>): Promise<BenchRow> {
  const clients = await Promise.all(Array.from({ length: MANY }, () => connect(env)))
  await sleep(SETTLED_MS)
  const megabytes = median(clients.map(({ process: { pid } }) => pssKilobytes(pid!) / 1024))
  await Promise.all(clients.map((client) => client.end()))
  return {
    name: `${MANY} clients: memory of one relay (PSS)`,
    value: `${megabytes.toFixed(1)} MB`,
    goal: '≤ 8 MB',
    ok: megabytes <= 8,
  }
}

/** A live cell, and a live call of a server, through the relay and without. */
async function cellRows(env: (resident: 'on' | 'off') => Record<string, string>): Promise<BenchRow[]> {
  const [on, off] = [await connect(env('on')), await connect(env('off'))]
  await sleep(SETTLED_MS)
  const rows: BenchRow[] = []
  for (const [name, code, limit] of [
    ['cell', '1', 1.2],
    ['call', 'await mcp_everything.echo(message="a")', 1.05],
  ] as const) {
    const [through, direct]: number[][] = [[], []]
    for (const client of [on, off]) for (let count = 0; count < WARM_UP; count += 1) await client.run(code)
    for (let count = 0; count < CELLS; count += 1) {
      through!.push(await timed(() => on.run(code)))
      direct!.push(await timed(() => off.run(code)))
    }
    rows.push(ratioRow(`a live ${name} through the relay ÷ without`, through!, direct!, limit))
  }
  await Promise.all([on.end(), off.end()])
  return rows
}

/** A command that the resident runs, in a folder where clients are. */
async function execRow(env: Record<string, string>): Promise<BenchRow> {
  const command = [CLI, 'exec', '-c', '1 + 1']
  const once = (args: readonly string[]): Promise<number> =>
    timed(() => ended(spawn(process.execPath, args, { env, cwd: env['HOME'], stdio: 'ignore' })))
  await once(command)
  const [exec, node]: number[][] = [[], []]
  for (let count = 0; count < STARTS; count += 1) {
    exec!.push(await once(command))
    node!.push(await once(['-e', '0']))
    // Another sandbox gets ready.
    await sleep(SETTLED_MS / 2)
  }
  return ratioRow("exec -c '1 + 1' with a resident ÷ node -e 0", exec!, node!, 1.7)
}

interface Size {
  processes: number
  servers: number
  megabytes: number
}

/** What clients that have used all servers need together. */
async function crowd(env: Record<string, string>): Promise<Size> {
  const clients: BenchClient[] = []
  for (let count = 0; count < CLIENTS; count += 1) clients.push(await connect(env))
  for (const client of clients) await client.run(USE)
  await sleep(SETTLED_MS)
  const pids = ofHome(
    env['HOME']!,
    clients.map((client) => client.process.pid!),
  )
  const servers = pids.filter((pid) => /server-(everything|memory|filesystem)/.test(commandLine(pid))).length
  const megabytes = Math.round(pids.reduce((sum, pid) => sum + pssKilobytes(pid), 0) / 1024)
  await Promise.all(clients.map((client) => client.end()))
  return { processes: pids.length, servers, megabytes }
}

async function connect(env: Record<string, string>): Promise<BenchClient> {
  const child = spawn(process.execPath, [CLI, 'run'], { env, cwd: env['HOME'], stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting = new Map<number, (result: unknown) => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result } = JSON.parse(line) as { id?: number; result?: unknown }
    if (id !== undefined) waiting.get(id)?.(result)
  })
  let count = 0
  const ask: BenchClient['ask'] = (method, params = {}) => {
    const id = (count += 1)
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return new Promise((resolve) => waiting.set(id, resolve))
  }
  const clientInfo = { name: 'inspector-cli', version: '1' }
  const first = ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  await Promise.all([first, ask('tools/list')])
  return {
    process: child,
    ask,
    run: (code) => ask('tools/call', { name: 'run_python', arguments: { code } }),
    end: () => {
      child.stdin.end()
      return ended(child)
    },
  }
}

async function untilListed(env: Record<string, string>): Promise<void> {
  const client = await connect(env)
  client.process.kill('SIGKILL')
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.once('exit', () => resolve()))
}

/** The clients' processes, the resident of this home, and everything that these have started. */
function ofHome(home: string, clients: readonly number[]): number[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
  const parents = new Map(all.map((pid) => [pid, parentOf(pid)]))
  const roots = new Set([...clients, ...all.filter((pid) => isResident(pid, home))])
  const isOurs = (pid: number): boolean => roots.has(pid) || (pid > 1 && isOurs(parents.get(pid) ?? 0))
  return all.filter(isOurs)
}

function isResident(pid: number, home: string): boolean {
  return commandLine(pid).endsWith('resident\0') && read(`/proc/${pid}/environ`).includes(`HOME=${home}\0`)
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0)
}

function commandLine(pid: number): string {
  return read(`/proc/${pid}/cmdline`)
}

function pssKilobytes(pid: number): number {
  return Number(/^Pss:\s*(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0)
}

/** Empty for a process that has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
