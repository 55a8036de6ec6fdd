// Rows of upstreams: the time of the first call, many upstreams at once, one that keeps dying, and one that is down.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { BridgeError } from '../src/errors.ts'
import { processContext } from '../src/config/settings/client-context.ts'
import { createLog } from '../src/util/log.ts'
import { UpstreamSet } from '../src/upstream/upstream-set.ts'
import { connectBare } from '@sandbridge/core/test/support/bridges/bare-client.ts'
import { closeTestBridge, fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { openTestBridge } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import type { ServerEntry, TestBridge } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { median, ms, timed } from '../../../bench/measure.ts'
import { atMost, type BenchRow } from '../../../bench/row.ts'

const FIRST_CALL_SAMPLES = 9
const FIRST_CALL_LIMIT_MS = 20
const MANY = 50
const CALLS_EACH = 1000
const DYING_CALLS = 10_000
const CALLS_PER_LIFE = 100
const AT_ONCE = 4
const DEAD_LIMIT = 30
/** A cell may run for at most two minutes, so the work is spread over several. */
const CELLS = 5
const LONGEST_CELL_S = 110

export default async function upstreamRows(): Promise<BenchRow[]> {
  return [...(await firstCallRows()), await manyRow(), await dyingRow(), ...(await deadRows())]
}

/** The journal of a server in `journal` mode: one line `pid method` for its start and for each message. */
function journalOf(file: string): { pids: Set<string>; methods: string[] } {
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return {
    pids: new Set(lines.map((line) => line.split(' ')[0]!)),
    methods: lines.map((line) => line.split(' ')[1]!),
  }
}

/** Alternates between ours and the bare client, because other load on the machine changes from second to second. */
async function firstCallRows(): Promise<BenchRow[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sb-bench-'))
  // One cache for all bridges, and one journal that is emptied before each: the definition must stay the same to be
  // found in the cache.
  const file = path.join(folder, 'journal')
  const servers = { journal: fixtureServer('raw.mjs', 'journal', file) }
  const home = makeHome()
  const env = { MCP_BRIDGE_CACHE_DIR: path.join(home, 'cache') }
  const teacher = await openTestBridge({ servers, env })
  await teacher.run('await mcp_journal.echo(text="x")')
  await closeTestBridge(teacher)

  const differences: number[] = []
  const unexpected = new Set<string>()
  let processes = 0
  for (let index = 0; index < FIRST_CALL_SAMPLES; index += 1) {
    const bridge = await openTestBridge({ servers, env })
    await bridge.client.listTools() // as every client does first
    await bridge.run('import time')
    await sleep(2_000) // the next kernel is ready by then and takes no CPU from the server
    rmSync(file, { force: true })
    const ours = await firstCall(bridge)
    const { pids, methods } = journalOf(file)
    processes = Math.max(processes, pids.size)
    for (const method of methods) if (!EXPECTED.has(method)) unexpected.add(method)
    await closeTestBridge(bridge)
    differences.push(ours - (await timed(() => bareFirstCall(servers.journal))))
  }
  rmSync(folder, { recursive: true, force: true })
  rmSync(home, { recursive: true, force: true })
  const overhead = median(differences)
  return [
    atMost("first call to a cached stdio server, beyond the server's own start", overhead, FIRST_CALL_LIMIT_MS, ms),
    {
      name: 'processes started, and requests sent that a first call does not need',
      value: `${processes}, ${[...unexpected].join(' ') || 'none'}`,
      goal: '1, none',
      ok: processes === 1 && unexpected.size === 0,
    },
  ]
}

/** A starting server is listed during its first call: its tools may have changed. */
const EXPECTED = new Set(['start', 'initialize', 'notifications/initialized', 'tools/list', 'tools/call'])

async function firstCall(bridge: TestBridge): Promise<number> {
  const code = '_t = time.perf_counter()\nawait mcp_journal.echo(text="x")\nprint((time.perf_counter() - _t) * 1000)'
  const text = await bridge.run(code)
  if (!Number.isFinite(Number(text))) throw new Error(`The first call failed: ${text}`)
  return Number(text)
}

async function bareFirstCall(server: ServerEntry): Promise<void> {
  const { client } = await connectBare(server)
  await client.callTool({ name: 'echo', arguments: { text: 'x' } })
  // Not awaited: closing is not part of a first call.
  void client.close()
}

async function manyRow(): Promise<BenchRow> {
  const names = Array.from({ length: MANY }, (_, index) => `s${index}`)
  const { command, args = [] } = fixtureServer('raw.mjs', 'good')
  const small: ServerEntry = { command, args: ['--max-semi-space-size=1', ...args] }
  const bridge = await openTestBridge({ servers: Object.fromEntries(names.map((name) => [name, small])) })
  const code = `import asyncio
async def use(server):
    wrong = 0
    for n in range(${CALLS_EACH / CELLS}):
        try:
            wrong += await server.echo(text=f"{n}") != f"{n}"
        except Exception as error:
            wrong += 1
    return wrong
print(sum(await asyncio.gather(*(use(mcp_servers[f"s{n}"]) for n in range(${MANY})))))`
  const texts: string[] = []
  const time = await timed(async () => {
    for (let cell = 0; cell < CELLS; cell += 1) texts.push(await bridge.run(code, { timeout: LONGEST_CELL_S }))
  })
  const broken = texts.find((text) => !/^\d+$/.test(text))
  const failures = texts.reduce((sum, text) => sum + Number(text), 0)
  const memory = residentMegabytes(bridge.pid)
  await closeTestBridge(bridge)
  const rate = `${((MANY * CALLS_EACH * 1000) / time).toFixed(0)} calls/s`
  const held = memory === undefined ? 'memory is read on Linux only' : `bridge ${memory} MB at most`
  return {
    name: `${MANY} upstreams at once, ${CALLS_EACH} calls each from Python: failures`,
    value: broken ?? `${failures}; ${rate}; ${held}`,
    goal: '0',
    ok: failures === 0,
  }
}

/** The peak memory of a process so far. */
function residentMegabytes(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1024)
}

/**
 * Calls are in flight whenever the server dies. Those must fail with a clear error; every other call must get its own
 * reply.
 */
async function dyingRow(): Promise<BenchRow> {
  const servers = { frail: fixtureServer('raw.mjs', 'dies', String(CALLS_PER_LIFE)) }
  const bridge = await openTestBridge({ servers })
  await bridge.run('import asyncio\ncounts = {"answered": 0, "in_flight": 0, "lost": 0}')
  const code = `todo = iter(range(${DYING_CALLS / CELLS}))
async def work():
    for n in todo:
        try:
            right = await mcp_frail.echo(text=f"{n}") == f"{n}"
            counts["answered" if right else "lost"] += 1
        except Exception as error:
            clear = getattr(error, "code", "") == "UPSTREAM_UNREACHABLE" and "during the call of 'echo'" in str(error)
            counts["in_flight" if clear else "lost"] += 1
await asyncio.gather(*(work() for _ in range(${AT_ONCE})))
print(*counts.values())`
  let text = ''
  for (let cell = 0; cell < CELLS; cell += 1) text = await bridge.run(code, { timeout: LONGEST_CELL_S })
  await closeTestBridge(bridge)
  // The bridge's note about the calls that failed follows.
  const counts = /^\d+ \d+ \d+$/m.exec(text)?.[0] ?? ''
  const [answered = NaN, inFlight = NaN, lost = NaN] = counts.split(' ').map(Number)
  // Each death ends a life of CALLS_PER_LIFE calls, of which at most AT_ONCE had no reply yet.
  const deaths = Math.floor((answered + inFlight) / CALLS_PER_LIFE)
  const all = answered + inFlight + lost === DYING_CALLS
  return {
    name: `a server that dies every ${CALLS_PER_LIFE} calls, ${DYING_CALLS} calls, ${AT_ONCE} at once: lost beyond those in flight`,
    value: all ? `${lost}; ${inFlight} in flight failed` : text,
    goal: '0',
    ok: all && lost === 0 && inFlight > 0 && inFlight <= deaths * AT_ONCE,
  }
}

/** A model that retries every five seconds of a simulated hour. */
async function deadRows(): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  for (const [kind, answer] of [
    ['resets every connection', ''],
    ['answers HTTP 503', 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'],
  ] as const) {
    const { requests, calls, failures } = await deadHour(answer)
    rows.push({
      name: `a remote server that ${kind} for an hour, called every 5 s: requests that reach it`,
      value: failures === calls ? `${requests} for ${calls} calls` : `${calls - failures} calls did not fail clearly`,
      goal: `≤ ${DEAD_LIMIT}`,
      ok: failures === calls && requests > 0 && requests <= DEAD_LIMIT,
    })
  }
  return rows
}

async function deadHour(answer: string): Promise<{ requests: number; calls: number; failures: number }> {
  let requests = 0
  // Connections are not reused, so each request is one connection.
  const listener = createServer((socket) => {
    requests += 1
    socket.on('error', () => {})
    if (answer === '') socket.resetAndDestroy()
    else socket.once('data', () => socket.end(answer))
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address() as AddressInfo
  let now = 0
  const upstreams = new UpstreamSet({
    definitions: [
      {
        name: 'gone',
        transport: { type: 'http', url: `http://127.0.0.1:${port}/mcp`, headers: {} },
        source: { client: 'bench', file: '' },
      },
    ],
    clientInfo: { name: 'bench', version: '1' },
    log: createLog('error'),
    context: { ...processContext(), env: {} },
    now: () => now,
    random: () => 0, // the shortest waits
  })
  let calls = 0
  let failures = 0
  for (; now < 3_600_000; now += 5000) {
    calls += 1
    await upstreams.callTool('gone', 'echo', {}).catch((error: unknown) => {
      if (BridgeError.isInstance(error) && error.code === 'UPSTREAM_UNREACHABLE') failures += 1
    })
  }
  await upstreams.close()
  await new Promise((resolve) => listener.close(resolve))
  return { requests, calls, failures }
}
