// Rows of the embedded sandbox: starts, cells and large results, measured with the built bridge.
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { Kernel } from '../src/cell/kernel/kernel.ts'
import { PyodideProvider } from '../src/isolation/pyodide/provider.ts'
import { warmUp } from '../src/cell/session/kernel-pool.ts'
import { closeTestBridge, fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { openTestBridge, published } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { SANDBOX_CACHE } from '@sandbridge/core/test/support/sandboxes/sandbox-cache.ts'
import { median, ms, ratio, samples, timed } from '../../../bench/measure.ts'
import { atMost, type BenchRow, reported } from '../../../bench/row.ts'

/** The first cells of a conversation run code that is not compiled yet. */
const WARM_UP = 300
/** By then a sandbox waits, and the bridge has stored its compiled code for the next start. */
const SETTLED_MS = 4_000
const LIVE_CELLS = 200
/** Of a user with many, all started before. */
const SERVERS = 12

export default async function coreRows(): Promise<BenchRow[]> {
  return [...(await startRows()), ...(await cellRows()), ...(await sizeRows())]
}

async function startRows(): Promise<BenchRow[]> {
  let tokens = 0
  const home = makeHome()
  const start = await samples(8, async () => {
    const started = performance.now()
    const bridge = await openTestBridge({ home })
    const { tools } = await bridge.client.listTools()
    const time = performance.now() - started
    tokens = countTokens(JSON.stringify(tools))
    await bridge.client.close()
    return time
  })
  rmSync(home, { recursive: true, force: true })
  const cold = await samples(5, coldStart)
  const coldCell = await samples(5, coldFirstCell)
  return [
    atMost('tokens of tools/list', tokens, 150, String),
    atMost(
      'process start → tools/list answered, on a machine where a bridge has run before',
      median(start.slice(1)),
      130,
      ms,
    ),
    atMost('embedded sandbox: cold start to ready, with the snapshot', median(cold), 500, ms),
    reported('the same to the first result, in a bridge that has started none', ms(median(coldCell))),
    ...(await waitingRows()),
  ]
}

/** From requesting a sandbox of a new provider to Python's `ready`. */
async function coldStart(): Promise<number> {
  let kernel: Kernel | undefined
  const cold = await timed(async () => {
    const provider = new PyodideProvider({ cacheFolder: SANDBOX_CACHE })
    await provider.prepare()
    kernel = await Kernel.attach(await provider.start({ memoryBytes: 512 << 20 }))
  })
  await kernel?.dispose()
  return cold
}

/** Resident memory of a waiting sandbox, with its outer layer, if there is one. Nothing where it cannot be read. */
async function waitingRows(): Promise<BenchRow[]> {
  const provider = new PyodideProvider({ cacheFolder: SANDBOX_CACHE })
  await provider.prepare()
  const kernel = await Kernel.attach(await provider.start({ memoryBytes: 512 << 20 }))
  await warmUp(kernel)
  const usage = await kernel.sandbox.usage?.()
  await kernel.dispose()
  const unit = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`
  return usage ? [atMost('embedded sandbox: memory while it waits', usage.memoryBytes, 170e6, unit)] : []
}

/** From sending the first cell to its result, without a waiting kernel. */
async function coldFirstCell(): Promise<number> {
  const bridge = await openTestBridge({ env: { MCP_BRIDGE_POOL: '0' } })
  await bridge.client.listTools()
  await sleep(500) // the bridge has read its configuration by then
  const cold = await timed(() => bridge.run('pass'))
  await closeTestBridge(bridge)
  return cold
}

async function cellRows(): Promise<BenchRow[]> {
  const home = makeHome()
  const first = await samples(6, async () => {
    const bridge = await openTestBridge({ home })
    await bridge.client.listTools()
    await sleep(SETTLED_MS)
    const time = await timed(() => bridge.run('pass'))
    await bridge.client.close()
    return time
  })
  rmSync(home, { recursive: true, force: true })
  const names = Array.from({ length: SERVERS }, (_, index) => `everything_${index}`)
  const [bridge, full] = await Promise.all([
    openTestBridge(),
    openTestBridge({ servers: Object.fromEntries(names.map((name) => [name, published.everything()])) }),
  ])
  await full.run(names.map((name) => `await mcp_${name}.echo(message="x")`).join('\n'))
  for (let count = 0; count < WARM_UP; count += 1) for (const one of [bridge, full]) await one.run('pass')
  const [live, fullLive]: [number[], number[]] = [[], []]
  for (let count = 0; count < LIVE_CELLS; count += 1) {
    live.push(await timed(() => bridge.run('pass')))
    fullLive.push(await timed(() => full.run('pass')))
  }
  await Promise.all([bridge, full].map(closeTestBridge))
  return [
    atMost(
      'first cell of a bridge, sandbox waiting, on a machine where a bridge has run before',
      median(first.slice(1)),
      3,
      ms,
    ),
    atMost('cell in a live session', median(live), 0.8, ms),
    atMost(`the same with ${SERVERS} servers ÷ without`, median(fullLive) / median(live), 1.2, ratio),
  ]
}

/** Sizes of a result that the server has prepared, so that its own time is not measured. */
const SIZES = [
  { megabytes: 1, rounds: 9 },
  { megabytes: 10, rounds: 7 },
  { megabytes: 50, rounds: 5, goal: 100 },
]

async function sizeRows(): Promise<BenchRow[]> {
  const bridge = await openTestBridge({ servers: { big: fixtureServer('raw.mjs', 'big') } })
  const rows: BenchRow[] = []
  for (const { megabytes, rounds, goal: least } of SIZES) {
    const fetchIt = async () => {
      const text = await bridge.run(`len(await mcp_big.big(bytes=${megabytes}_000_000))`, { timeout: 100 })
      if (Number(text) !== megabytes * 1_000_000) throw new Error(`${megabytes} MB came as: ${text}`)
    }
    await fetchIt()
    const rate = (megabytes * 1000) / median(await samples(rounds, () => timed(fetchIt)))
    rows.push({
      name: `a tool result of ${megabytes} MB into Python and its length back out`,
      value: `${rate.toFixed(0)} MB/s`,
      goal: least ? `≥ ${least} MB/s` : '',
      ok: least ? rate >= least : null,
    })
  }
  await closeTestBridge(bridge)
  return rows
}
