// Rows of an image in bubblewrap and in the engines, measured alternately, because absolute times depend on the machine
// and its load.
import { setTimeout as sleep } from 'node:timers/promises'
import { Kernel } from '../../core/src/cell/kernel/kernel.ts'
import type { Provider } from '../../core/src/isolation/provider.ts'
import { runCommand } from '../../core/src/util/process/run-command.ts'
import { DATA_IMAGE, makeProvider, SLIM_IMAGE, whyNot } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { median, ms, ratio, timed } from '../../../bench/measure.ts'
import { type BenchRow, reported } from '../../../bench/row.ts'

const LIMITS = { memoryBytes: 512 * 2 ** 20 }
const ROUNDS = 9
const SETTLE_MS = 700
const PANDAS = 'import pandas\npandas.DataFrame({"a": [1, 2]}).a.sum()'

export default async function imageRows(): Promise<BenchRow[]> {
  const podman = makeProvider('podman', DATA_IMAGE)
  const docker = makeProvider('docker', DATA_IMAGE)
  const slim = makeProvider('bubblewrap-image', SLIM_IMAGE)
  const data = makeProvider('bubblewrap-image', DATA_IMAGE)
  for (const provider of [podman, docker, slim, data]) {
    const reason = await whyNot(provider)
    if (reason !== undefined)
      return [{ name: 'not measured', value: reason, goal: 'podman, docker, bubblewrap', ok: null }]
  }
  const bare: number[] = []
  const own: Record<'slim' | 'data' | 'docker' | 'podman', Start[]> = { slim: [], data: [], docker: [], podman: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    own.slim.push(await start(slim, 'pass'))
    own.data.push(await start(data, PANDAS))
    // An engine cleans up after its command has exited, which must not slow down the next measurement.
    bare.push(await timed(runBare))
    await sleep(SETTLE_MS)
    own.podman.push(await start(podman, PANDAS))
    await sleep(SETTLE_MS)
    own.docker.push(await start(docker, PANDAS))
    await sleep(SETTLE_MS)
  }
  const of = (name: keyof typeof own, part: keyof Start) => median(own[name].map((one) => one[part]))
  const share = of('slim', 'readyMs') / median(bare)
  return [
    reported('podman run … python3 -c pass', ms(median(bare))),
    {
      name: 'fresh session from an empty pool: slim image in bubblewrap ÷ that',
      value: `${ratio(share)} (${ms(of('slim', 'readyMs'))})`,
      goal: `≤ ${ratio(0.4)}`,
      ok: share <= 0.4,
    },
    reported('its first cell', ms(of('slim', 'cellMs'))),
    ...(['data', 'podman', 'docker'] as const).map((name) => {
      const words = `${ms(of(name, 'readyMs'))}, cell ${ms(of(name, 'cellMs'))}`
      return reported(`start, then a cell with pandas: ${name === 'data' ? 'data image in bubblewrap' : name}`, words)
    }),
  ]
}

interface Start {
  readyMs: number
  /** Time of the first cell. */
  cellMs: number
}

async function start(provider: Provider, code: string): Promise<Start> {
  let kernel: Kernel | undefined
  const readyMs = await timed(async () => (kernel = await Kernel.attach(await provider.start(LIMITS))))
  const observer = { onOutput: () => {}, onDisplay: () => {}, onCall: async () => null }
  const cellMs = await timed(async () => {
    const { error } = await kernel!.run({ code, servers: [], observer })
    if (error) throw new Error(error.traceback)
  })
  await kernel?.dispose()
  return { readyMs, cellMs }
}

async function runBare(): Promise<void> {
  const words = ['run', '--rm', '-i', '--network=none', SLIM_IMAGE, 'python3', '-c', 'pass']
  const { code, stderr } = await runCommand('podman', words)
  if (code !== 0) throw new Error(stderr)
}
