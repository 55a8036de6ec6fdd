// The cost of a tool call from Python: relative to the same call from a bare MCP client, on the same machine in the
// same minute, and in CPU time of every process involved.
import type { ProviderName } from '../packages/core/src/isolation/provider.ts'
import { connectBare } from '@sandbridge/core/test/support/bridges/bare-client.ts'
import { published, type TestBridge } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { callParts, type Part } from './call-parts.ts'
import { type Use, useOf } from './cpu.ts'
import { lowerQuartile, median, timed } from './measure.ts'

/** Calls before the measured ones, the same on both sides: V8 has compiled most of the hot code by then. */
const WARM_UP = 1_500
const ROUNDS = 15
const ONE_BY_ONE = 100
const AT_ONCE = 500

export interface CallCost {
  /** Wall time relative to the bare client's. */
  ratio: number
  /** Per call. `bare` is the bare client and its server together. */
  uses: Record<Part | 'bare', Use>
}

/**
 * @param bridge has the published server "everything": its tool does nothing, so only the overhead of the call is
 * measured.
 */
export async function callCosts(
  bridge: TestBridge,
  engine: ProviderName,
): Promise<{ oneByOne: CallCost; atOnce: CallCost }> {
  const { client: bare, pid } = await connectBare(published.everything())
  const echo = () => bare.callTool({ name: 'echo', arguments: { message: 'x' } })
  const echoes = async (count: number) => {
    for (let index = 0; index < count; index += 1) await echo()
  }
  const python = (code: string) => async () => {
    const printed = await bridge.run(`_t = time.perf_counter()\n${code}\nprint((time.perf_counter() - _t) * 1000)`)
    if (!Number.isFinite(Number(printed))) throw new Error(`the calls failed: ${printed}`)
    return Number(printed)
  }

  await bridge.run(`import asyncio, time\nfor _ in range(${WARM_UP}): await mcp_everything.echo(message="x")`)
  await echoes(WARM_UP)
  const processes = { ...callParts(bridge, engine), bare: [process.pid, pid] }
  const oneByOne = await costOf(
    ONE_BY_ONE,
    processes,
    () => timed(() => echoes(ONE_BY_ONE)),
    python(`for _ in range(${ONE_BY_ONE}): await mcp_everything.echo(message="x")`),
  )
  const atOnce = await costOf(
    AT_ONCE,
    processes,
    () => timed(() => Promise.all(Array.from({ length: AT_ONCE }, echo))),
    python(`await asyncio.gather(*(mcp_everything.echo(message="x") for _ in range(${AT_ONCE})))`),
  )
  await bare.close()
  return { oneByOne, atOnce }
}

/** Alternates between both sides, because other load on the machine changes from second to second. */
async function costOf(
  count: number,
  { bare, ...parts }: Record<Part | 'bare', number[]>,
  bareCalls: () => Promise<number>,
  ourCalls: () => Promise<number>,
): Promise<CallCost> {
  const ratios: number[] = []
  const uses = new Map<Part | 'bare', Use[]>()
  const measured = async (processes: Partial<Record<Part | 'bare', number[]>>, calls: () => Promise<number>) => {
    const named = Object.entries(processes) as [Part | 'bare', number[]][]
    const before = named.map(([, pids]) => useOf(pids))
    const time = await calls()
    for (const [index, [name, pids]] of named.entries()) {
      const after = useOf(pids)
      const used = {
        microseconds: (after.microseconds - before[index]!.microseconds) / count,
        switches: (after.switches - before[index]!.switches) / count,
      }
      uses.set(name, [...(uses.get(name) ?? []), used])
    }
    return time
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const bareTime = await measured({ bare }, bareCalls)
    ratios.push((await measured(parts, ourCalls)) / bareTime)
  }
  const typical = [...uses].map(([name, all]) => [
    name,
    {
      microseconds: lowerQuartile(all.map(({ microseconds }) => microseconds)),
      switches: median(all.map(({ switches }) => switches)),
    },
  ])
  return { ratio: median(ratios), uses: Object.fromEntries(typical) as CallCost['uses'] }
}
