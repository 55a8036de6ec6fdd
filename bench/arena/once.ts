// Plays the gold solutions of published benchmarks in cells, loses the answer of a write or the result of a cell that
// has written, sends the cell again, and lets the benchmark's own checker look at the end. Each way to lose has as many
// points as it says, evenly:
// `TAU2_PYTHON=… npx tsx bench/arena/once.ts --source tau2 --losses timeout=300,cut=100,relay=20,resident=20`.
import { parseArgs } from 'node:util'
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@modelcontextprotocol/client'
import {
  openTestBridge,
  type RemoteEntry,
  type ServerEntry,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { descendants } from '@sandbridge/core/test/support/machine/processes.ts'
import { soundsReadOnly } from '../../packages/core/src/config/rules/hints.ts'
import { type MeasuredBridge, openMeasuredBridge } from '../http-bridge.ts'
import { python } from './gold.ts'
import { type Source, publishedTasks } from './tasks/published.ts'
import { type GoldCall, spread, type Task, type World } from './task.ts'

/** What is lost, and where: after an answer, before it, or the whole result. */
interface Point {
  exchange: number
  call: number
  what: 'answered' | 'unanswered' | 'result'
}

/**
 * A call that reached a server: tool, arguments, whether it was carried out, and, where it was looked at, whether it
 * changed the state.
 */
type Made = [tool: string, args: unknown, isDone: boolean, wrote: boolean]

/** The journal is written beside the calls. */
const WRITTEN_MS = 60

const { values: options } = parseArgs({
  options: {
    source: { type: 'string', default: 'tau2' },
    losses: { type: 'string', default: 'timeout=100,cut=100,relay=10,resident=10' },
    tasks: { type: 'string', default: '1000' },
  },
})

const print = (text: string) => void process.stdout.write(`${text}\n`)

type Servers = World['servers']

/** A client, the bridge that serves it, and how both lose each other. */
class Line {
  readonly #loss: string
  readonly #env: Record<string, string>
  #stdio: Awaited<ReturnType<typeof openTestBridge>> | undefined
  #http: MeasuredBridge | undefined
  #client!: Client
  #lost: Promise<unknown> | undefined
  #leave = new AbortController()
  #onResult: (() => void) | undefined

  constructor(loss: string, isOn: boolean) {
    this.#loss = loss
    const resident = loss === 'relay' || loss === 'resident' ? 'on idle=60' : 'off'
    const runtime = {
      MCP_BRIDGE_RUNTIME: 'bubblewrap',
      MCP_BRIDGE_POOL: '0',
      MCP_BRIDGE_HTTP_LIMITS: 'sessions=200',
      MCP_BRIDGE_RESIDENT: resident,
    }
    this.#env = { ...runtime, MCP_BRIDGE_ONCE: isOn ? 'on' : 'off' }
  }

  async open(servers: Servers, home?: string): Promise<void> {
    if (this.#loss === 'cut') {
      this.#http ??= await openMeasuredBridge(servers as Record<string, ServerEntry>, this.#env)
      this.#client = await this.#http.connect()
      return
    }
    this.#stdio = await openTestBridge({ servers, env: this.#env, ...(home !== undefined && { home }) })
    this.#client = this.#stdio.client
    const { transport } = this.#stdio
    const { onmessage } = transport
    transport.onmessage = (message) => {
      if (!this.#onResult || !('result' in message)) return onmessage?.(message)
      this.#onResult()
      this.#onResult = undefined
    }
  }

  async run(code: string): Promise<string> {
    const call = { name: 'run_python', arguments: { code } }
    const { content } = await this.#client.callTool(call, { timeout: 120_000 })
    return (content as { text?: string }[]).map(({ text }) => text ?? '').join('')
  }

  /** @param isRead missing: resolves when the result is there, which the client does not get */
  async begin(code: string, waits: (() => Promise<void>) | undefined): Promise<void> {
    const result = new Promise<void>((resolve) => (this.#onResult = waits ? undefined : resolve))
    const call = { name: 'run_python', arguments: { code } }
    this.#lost = this.#client.callTool(call, { timeout: 120_000, signal: this.#leave.signal }).catch(() => undefined)
    await (waits ? waits() : result)
  }

  async lose(servers: Servers): Promise<void> {
    const pid = this.#stdio?.pid
    if (this.#loss === 'timeout') this.#leave.abort()
    else if (this.#loss === 'cut') await this.#client.close()
    else process.kill(this.#loss === 'relay' ? pid! : descendants(pid!)[0]!.pid, 'SIGKILL')
    // A resident that was killed after its result was on the way leaves nothing to wait for.
    await Promise.race([this.#lost, sleep(500)])
    this.#leave = new AbortController()
    if (this.#loss === 'cut' || this.#loss === 'relay') await this.open(servers, this.#stdio?.home)
  }

  async close(): Promise<void> {
    await this.#client.close()
    await this.#http?.close()
    if (this.#stdio) await rm(this.#stdio.home, { recursive: true, force: true, maxRetries: 20 }).catch(() => {})
  }
}

/** @param known a call that has taken effect although it was not answered: the same one is made knowingly */
const cellOf = (calls: readonly GoldCall[], known?: GoldCall): string =>
  calls
    .map(({ server, tool, args }) => {
      const call = `runtime.call_tool(${python(server)}, ${python(tool)}, ${python(args)})`
      const isSame = known?.tool === tool && JSON.stringify(known.args) === JSON.stringify(args)
      const made = isSame ? `runtime.again(${call})` : call
      return `try: print(await ${made})\nexcept runtime.ToolError as error: print(error)`
    })
    .join('\n')

interface Played {
  wrong: string | undefined
  made: Made[]
  unknown: number
  /** The tools that each message of the user calls. */
  tools: string[][]
}

/** @param point missing: nothing is lost, and the host looks which calls change the state */
async function play(task: Task, line: Line, servers: Servers, point?: Point): Promise<Played> {
  // What the play before has left without an answer is no concern of this one.
  await line.run('await mcp_another.begin()')
  const world = await task.open()
  const host = (...asked: Parameters<NonNullable<typeof world.host>>) => world.host!(...asked)
  const made = async () => (await host('made')) as Made[]
  await host('lose', 0, !point)
  let unknown = 0
  for (const [at, { steps }] of world.exchanges.entries()) {
    await world.begin?.(at)
    const calls = steps.flat()
    if (calls.length === 0) continue
    if (point?.exchange !== at) {
      await line.run(cellOf(calls))
      continue
    }
    const { call, what } = point
    const count = (await made()).length + call + 1
    const waits = async () => {
      while ((await made()).length < count) await sleep(3)
      await sleep(WRITTEN_MS)
    }
    if (what === 'unanswered') await host('lose', count)
    const code =
      what === 'answered' ? `${cellOf(calls.slice(0, call + 1))}\nimport time; time.sleep(60)` : cellOf(calls)
    await line.begin(code, what === 'result' ? undefined : waits)
    await line.lose(servers)
    await host('lose', 0)
    if (!(await line.run(cellOf(calls))).includes('OutcomeUnknown')) continue
    // It looks, finds that the call has taken effect, and leaves it out.
    unknown += 1
    const [known] = calls.splice(call, 1)
    await line.run(cellOf(calls, known))
  }
  const tools = world.exchanges.map(({ steps }) => steps.flat().map(({ server, tool }) => `${server}.${tool}`))
  return { wrong: await world.check(world.exchanges.at(-1)!.answer), made: await made(), unknown, tools }
}

/** The calls of these tools that were made more often than in a clean run. */
function doubled(made: readonly Made[], clean: readonly Made[], writes: ReadonlySet<string>): string[] {
  const left = clean.map(([tool, args]) => JSON.stringify([tool, args]))
  const more = made.filter(([tool, args, isDone]) => {
    const at = left.indexOf(JSON.stringify([tool, args]))
    if (at >= 0) left.splice(at, 1)
    return at < 0 && isDone && writes.has(tool)
  })
  return more.map(([tool]) => tool)
}

async function serversOf(task: Task): Promise<Servers> {
  return (await task.open()).servers
}

async function main(): Promise<void> {
  const all = spread(await publishedTasks(options.source as Source), Number(options.tasks))
  const servers: Record<string, ServerEntry | RemoteEntry> = {}
  for (const task of all) Object.assign(servers, await serversOf(task))
  const [{ url }] = Object.values(servers) as [RemoteEntry]
  servers['another'] = { url: url.replace(/\w+$/, 'another') }
  const clean = new Map<Task, Played>()
  const writes = new Set<string>()
  const line = new Line('timeout', true)
  await line.open(servers)
  for (const task of all) {
    const played = await play(task, line, servers)
    if (played.wrong === undefined) clean.set(task, played)
    // A tool that reads by its name is one that a cell may call again, such as `get_webpage`, which notes each request.
    for (const [tool, , , wrote] of played.made) if (wrote && !soundsReadOnly(tool.split('.')[1]!, {})) writes.add(tool)
  }
  await line.close()
  const points = [...clean].flatMap(([task, { tools }]) => pointsOf(tools, writes).map((point) => ({ task, point })))
  print(`${all.length} tasks, ${clean.size} solved by their gold calls, ${points.length} points`)
  for (const [loss = '', limit] of options.losses.split(',').map((one) => one.split('='))) {
    // What was sent over HTTP to its end counts as delivered.
    const possible = loss === 'cut' ? points.filter(({ point }) => point.what !== 'result') : points
    const chosen = spread(possible, Number(limit))
    for (const isOn of [true, false]) print(await rowOf(chosen, clean, writes, servers, loss, isOn))
  }
}

/** Every write, and the result of every cell that has written. */
function pointsOf(tools: readonly string[][], writes: ReadonlySet<string>): Point[] {
  return tools.flatMap((called, exchange) => {
    const calls = [...called.keys()].filter((call) => writes.has(called[call]!))
    const points = calls.flatMap((call) => [
      { exchange, call, what: 'answered' as const },
      { exchange, call, what: 'unanswered' as const },
    ])
    return calls.length === 0 ? [] : [...points, { exchange, call: called.length - 1, what: 'result' as const }]
  })
}

async function rowOf(
  points: readonly { task: Task; point: Point }[],
  clean: ReadonlyMap<Task, Played>,
  writes: ReadonlySet<string>,
  servers: Servers,
  loss: string,
  isOn: boolean,
): Promise<string> {
  const line = new Line(loss, isOn)
  await line.open(servers)
  const sums = { plays: 0, gold: 0, doubled: 0, unknown: 0 }
  for (const { task, point } of points) {
    const { wrong, made, unknown } = await play(task, line, servers, point)
    const more = doubled(made, clean.get(task)!.made, writes)
    sums.plays += 1
    sums.gold += wrong === undefined ? 1 : 0
    sums.doubled += more.length > 0 ? 1 : 0
    sums.unknown += unknown
    if (isOn && (wrong !== undefined || more.length > 0))
      print(`${task.id} ${JSON.stringify(point)}: ${wrong}, doubled: ${more.join(', ')}`)
  }
  await line.close()
  return JSON.stringify({ source: options.source, loss, once: isOn ? 'on' : 'off', ...sums })
}

await main()
process.exit()
