// Rows of pandas and matplotlib in each kind of sandbox: the table of docs/data.md. `npm run bench packages:docker`
// measures one kind. Containers get the test image with this machine's pip.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  bridgeEnv,
  CLI,
  closeTestBridge,
  makeHome,
  openTestBridge,
  type TestBridge,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import {
  type LocalProvider,
  makeProvider,
  PROVIDER_NAMES,
  runtimeEnv,
  whyNot,
} from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { addPip, buildImage, hostPip, removeImages } from '@sandbridge/core/test/support/sandboxes/pip-image.ts'
import { descendants, runningProcesses } from '@sandbridge/core/test/support/machine/processes.ts'
import { mebibytes, proportionalBytes } from '../../../bench/sandboxes.ts'
import { median, ms, ratio, samples, timed } from '../../../bench/measure.ts'
import { atMost, type BenchRow, reported } from '../../../bench/row.ts'

const ROUNDS = 3
const IMAGE = 'localhost/sandbridge-bench-pip:1'
const LABEL = 'sandbridge.bench=packages'
/** After a cell, before its memory is measured. */
const SETTLED_MS = 1_000
const IMPORTS = 'import pandas, matplotlib.pyplot'
const TIMED = `import time\nbegan = time.perf_counter()\n${IMPORTS}\nprint((time.perf_counter() - began) * 1000)`
const CHART = `import pandas, matplotlib.pyplot as plt
frame = pandas.DataFrame({"city": ["Oslo", "Rome", "Bern"], "price": [3, 1, 2]})
frame.plot.bar(x="city", y="price")
plt.savefig("/tmp/chart.png")
print(frame)`

type Env = Record<string, string>

export default async function packageRows(kinds: string[]): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  for (const name of PROVIDER_NAMES.filter((one) => kinds.length === 0 || kinds.includes(one))) {
    const folder = mkdtempSync(path.join(tmpdir(), 'sb-'))
    // The sandboxes of root run as another user.
    chmodSync(folder, 0o755)
    try {
      const own = (await whyNot(makeProvider(name))) ?? prepared(name, folder)
      const found = typeof own === 'string' ? [notMeasured(own)] : await measured(own, folder)
      rows.push(...found.map((row) => ({ ...row, name: `${name}: ${row.name}` })))
    } finally {
      rmSync(folder, { recursive: true, force: true })
      if (isEngine(name)) removeImages(name, LABEL)
    }
  }
  return rows
}

/** Settings of a bridge without packages, and the names of packages. Or why there are none. */
function prepared(name: LocalProvider, folder: string): { env: Env; words: string[] } | string {
  const env = { ...runtimeEnv(name, IMAGE), MCP_BRIDGE_CACHE_DIR: path.join(folder, 'cache'), PIP_NO_CACHE_DIR: '1' }
  if (!isEngine(name)) return { env, words: ['pandas', 'matplotlib'] }
  const pip = hostPip()
  if (pip === undefined) return 'python3 of this machine has no pip'
  const context = path.join(folder, 'image')
  mkdirSync(context, { mode: 0o755 })
  const problem = buildImage(name, IMAGE, context, [`LABEL ${LABEL}`, ...addPip(pip, context)])
  // An image that an earlier run built has another name.
  return problem || { env, words: [`pandas!=0.0.${Date.now()}`, 'matplotlib'] }
}

async function measured({ env, words }: { env: Env; words: string[] }, folder: string): Promise<BenchRow[]> {
  const home = makeHome()
  const sandbridge = (...args: string[]) =>
    spawnSync(process.execPath, [CLI, ...args], { cwd: home, encoding: 'utf8', env: bridgeEnv(home, env) })
  const { stdout, stderr } = sandbridge('packages', 'add', '--json', ...words)
  if (!stdout.startsWith('{')) return [notMeasured(stderr.slice(0, 200))]
  const added = JSON.parse(stdout) as {
    missing: { reason: string }[]
    totalBytes: number
    totalCount: number
    seconds: number
  }
  if (added.missing.length > 0) return [notMeasured(added.missing[0]!.reason)]
  const file = path.join(folder, 'chart.py')
  writeFileSync(file, CHART)
  const command = median(await samples(ROUNDS, () => timed(async () => void sandbridge('exec', file))))
  const [fresh, waited, memory]: number[][] = [[], [], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    const cold = await openTestBridge({ home, env: { ...env, MCP_BRIDGE_POOL: '0' } })
    fresh!.push(Number(await cold.run(TIMED)))
    await cold.client.close()
    const warm = await openTestBridge({ home, env: { ...env, MCP_BRIDGE_POOL: '1' } })
    memory!.push(await waitedMemory(warm))
    waited!.push(Number(await warm.run(TIMED)))
    await warm.client.close()
  }
  rmSync(home, { recursive: true, force: true })
  const bare = await openTestBridge({ env: { ...env, MCP_BRIDGE_POOL: '1' } })
  const without = await waitedMemory(bare)
  await closeTestBridge(bare)
  const size = `${(added.totalBytes / 1e6).toFixed(0)} MB, ${added.totalCount} packages`
  const plain = await plainTimes(path.join(folder, 'cache/packages'), file)
  const beside = (value: number, other: number | undefined): string =>
    other === undefined ? ms(value) : `${ms(value)}, ${ratio(value / other)} of plain Python`
  return [
    reported('first install', `${added.seconds.toFixed(1)} s, ${size}`),
    atMost('import, in a sandbox that waited', median(waited!), 10, ms),
    reported('import, in a sandbox that did not wait', beside(median(fresh!), plain?.imports)),
    reported('a table and a chart, the whole command', beside(command, plain?.command)),
    reported(
      'memory (PSS) of a sandbox that waited',
      `${mebibytes(median(memory!))}, without packages ${mebibytes(without)}`,
    ),
  ]
}

/** What the same programs take without a sandbox, where the packages are in a folder of this machine. */
async function plainTimes(packages: string, file: string): Promise<{ command: number; imports: number } | undefined> {
  if (!existsSync(packages)) return undefined
  const [installed] = readdirSync(packages).filter((name) => !name.startsWith('missing-'))
  if (installed === undefined) return undefined
  const env = { PATH: process.env['PATH'], HOME: tmpdir(), PYTHONPATH: path.join(packages, installed) }
  const run = (...args: string[]) => spawnSync('python3', args, { env, encoding: 'utf8' }).stdout
  return {
    command: median(await samples(ROUNDS, () => timed(async () => run(file)))),
    imports: median(await samples(ROUNDS, async () => Number(run('-c', TIMED)))),
  }
}

/**
 * Memory of the sandbox that the first cell gets, which has waited. Pages that its processes share with others count in
 * part.
 */
async function waitedMemory(bridge: TestBridge): Promise<number> {
  // Clients begin with this, and the pool fills itself then. The cell waits until its sandbox is ready.
  await bridge.client.listTools()
  await bridge.run('pass')
  await sleep(SETTLED_MS)
  // The pool may start the next one meanwhile, which is smaller until it is ready, too.
  return (
    Math.max(...sandboxes(bridge.pid).map((pids) => pids.reduce((sum, pid) => sum + proportionalBytes(pid), 0))) /
    2 ** 20
  )
}

/** The processes of each sandbox of a bridge. A native one names its bridge; an embedded one is below it. */
function sandboxes(bridge: number): number[][] {
  const byId = new Map<string, number[]>()
  for (const { pid, command } of runningProcesses()) {
    // The code of the kernel, which has several lines, is one of its arguments.
    const ofBridge = new RegExp(String.raw`^\S*python3[\d.]* [^]* id=(sandbridge-${bridge}-[\da-f-]+) (?!slots=)`)
    const id = ofBridge.exec(command)?.[1]
    if (id !== undefined) byId.set(id, [...(byId.get(id) ?? []), pid])
  }
  if (byId.size > 0) return [...byId.values()]
  const children = descendants(bridge).filter(({ parent }) => parent === bridge)
  return children.map(({ pid }) => [pid, ...descendants(pid).map((one) => one.pid)])
}

const isEngine = (name: LocalProvider) => name === 'podman' || name === 'docker'
const notMeasured = (value: string): BenchRow => ({ name: 'not measured', value, goal: '', ok: null })
