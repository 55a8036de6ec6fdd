// Durable sessions in one cluster, a real one if available, served by two bridges of which one is killed half-way:
// counts lost variables, calls that were made twice, and calls that were neither made nor reported.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@modelcontextprotocol/client'
import { findHostSystem } from '@sandbridge/bubblewrap/find-system.ts'
import { fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { FakeCluster } from '@sandbridge/kubernetes/test/support/fake-cluster/fake-cluster.ts'
import { REAL_ENV, REAL_KUBECONFIG } from '@sandbridge/kubernetes/test/support/real-cluster.ts'
import { type MeasuredBridge, openMeasuredBridge } from '../../../bench/http-bridge.ts'
import { timed } from '../../../bench/measure.ts'
import type { BenchRow } from '../../../bench/row.ts'

/**
 * SANDBRIDGE_BENCH_SANDBOXES sets another number. Each is a Python process on this machine, also with a real cluster on
 * it.
 */
const SANDBOXES = Number(process.env['SANDBRIDGE_BENCH_SANDBOXES'] ?? 10)
const CELLS = 20
const TRIES = 40
const AGAIN_MS = 250

interface Answer {
  text: string
  isError: boolean
}

export default async function replicaRows(): Promise<BenchRow[]> {
  const { found, verdict } = await findHostSystem()
  if (!found && REAL_KUBECONFIG === undefined)
    return [{ name: 'not measured', value: verdict, goal: 'bubblewrap', ok: null }]
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-ledger-'))
  const ledger = path.join(folder, 'lines')
  const fake = REAL_KUBECONFIG === undefined ? await FakeCluster.start() : undefined
  const env = {
    ...(fake ? { MCP_BRIDGE_RUNTIME: 'kubernetes', KUBECONFIG: fake.kubeconfig } : REAL_ENV),
    MCP_BRIDGE_SESSION: 'durable',
    MCP_BRIDGE_KUBERNETES: 'network=unchecked',
    MCP_BRIDGE_HANDLE_KEY: 'k'.repeat(32),
    MCP_BRIDGE_HTTP_LIMITS: `sessions=${2 * SANDBOXES}`,
    MCP_BRIDGE_MEMORY: '128m',
    MCP_BRIDGE_POOL: '0',
  }
  const servers = { ledger: { ...fixtureServer('ledger.mjs'), env: { LEDGER: ledger } } }
  const bridges = await Promise.all([openMeasuredBridge(servers, env), openMeasuredBridge(servers, env)])
  try {
    const clients = await Promise.all(bridges.map((bridge) => bridge.connect('modern')))
    const run = new Run(bridges, clients)
    const seconds = (await timed(() => run.all())) / 1000
    const lines = existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []
    const twice = lines.length - new Set(lines).size
    const { lost, interrupted, problems } = run
    const missing = run.expected.filter((line) => !lines.includes(line))
    const unreported = missing.filter((line) => !interrupted.has(line))
    for (const line of unreported) problems.push(`the call '${line}' was not made, and its cell was not told`)
    for (const problem of problems.slice(0, 5)) process.stderr.write(`${problem}\n`)
    const where = fake ? 'a fake cluster' : 'a real cluster'
    const calls = `${twice} calls made twice, ${missing.length} not made (${interrupted.size} cells heard CALL_INTERRUPTED)`
    return [
      {
        name: `${SANDBOXES} sandboxes of ${where}, ${CELLS} cells each, two bridges, one killed half-way`,
        value: `${lost} lost, ${calls}; ${lines.length} calls in ${seconds.toFixed(1)} s`,
        goal: 'none lost, no call twice, none missing without a word',
        ok: lost === 0 && twice === 0 && unreported.length === 0,
      },
    ]
  } finally {
    await Promise.all(bridges.map((bridge) => bridge.close()))
    await fake?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

class Run {
  /** Sessions that lost variables. */
  lost = 0
  readonly problems: string[] = []
  /** All calls, and those whose cell was told that they may not have been made. */
  readonly expected: string[] = []
  readonly interrupted = new Set<string>()
  readonly #bridges: readonly MeasuredBridge[]
  readonly #clients: readonly Client[]
  #cells = 0
  #isKilled = false

  constructor(bridges: readonly MeasuredBridge[], clients: readonly Client[]) {
    this.#bridges = bridges
    this.#clients = clients
  }

  async all(): Promise<void> {
    await Promise.all(Array.from({ length: SANDBOXES }, (_, session) => this.#session(session)))
  }

  async #session(id: number): Promise<void> {
    let handle: string | undefined
    try {
      for (let cell = 1; cell <= CELLS; cell += 1) {
        // A client without a response sends its cell again; the cell skips what it has already done.
        const code = `
done, told = globals().setdefault('kept', (set(), []))
if ${cell} not in done:
    done.add(${cell})
    try: await mcp_ledger.add_line(text='${id} ${cell}')
    except runtime.MCPError as error: told.append(f'{error.code} ${id} ${cell}')
len(done)`
        this.expected.push(`${id} ${cell}`)
        const { text } = await this.#call(code, handle, id + cell)
        handle ??= /session="([\w-]+)"/.exec(text)?.[1]
        this.#cells += 1
        if (!this.#isKilled && this.#cells >= (SANDBOXES * CELLS) / 2) {
          this.#isKilled = true
          this.#bridges[0]!.child.kill('SIGKILL')
        }
      }
      const { text } = await this.#call("print(len(done), *told, sep='\\n')", handle, 1)
      const [count, ...told] = text.split('\n')
      if (count !== String(CELLS)) throw new Error(text)
      for (const one of told) {
        const [, code, line] = /^([A-Z_]+) (\d+ \d+)$/.exec(one) ?? []
        if (code === 'CALL_INTERRUPTED') this.interrupted.add(line!)
        else if (code !== undefined) this.problems.push(`session ${id}: ${one}`)
      }
    } catch (error) {
      this.lost += 1
      this.problems.push(`session ${id}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  /** Calls one of the bridges; retries later or at the other one when that bridge is gone or busy. */
  async #call(code: string, handle: string | undefined, turn: number): Promise<Answer> {
    let last: unknown
    for (let tries = 0; tries < TRIES; tries += 1) {
      const client = this.#clients[this.#isKilled ? 1 : (turn + tries) % 2]!
      const args = { code, ...(handle !== undefined && { session: handle }) }
      try {
        const answer = await client.callTool({ name: 'run_python', arguments: args }, { timeout: 120_000 })
        const text = answer.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
        if (answer.isError !== true) return { text, isError: false }
        if (text.includes('SESSION_UNKNOWN') || /Unknown or expired/.test(text)) throw new Lost(text)
        last = text
      } catch (error) {
        if (error instanceof Lost) throw error
        last = error
      }
      await sleep(AGAIN_MS)
    }
    throw new Error(`no answer: ${String(last)}`)
  }
}

class Lost extends Error {}
