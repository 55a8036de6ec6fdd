// Rows of work with data in bubblewrap, beside the same Python without a sandbox: a group-by, and a large file, which a
// server tells the path of or sends as text.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { makeHome, openTestBridge, published } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { makeProvider, whyNot } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { median, ms, ratio } from '../../../bench/measure.ts'
import type { BenchRow } from '../../../bench/row.ts'

const ROUNDS = 5
const FILE_BYTES = 200e6
/** A server sends its text twice, as text and as data, and a message may have 64 MiB. */
const TEXT_BYTES = 28e6
const GROUP_BY = `import numpy
frame = pandas.DataFrame({"key": numpy.arange(3_000_000) % 1000, "value": numpy.arange(3_000_000)})
began = time.perf_counter()
frame.groupby("key").value.agg(["sum", "mean", "std"]).sort_values("std")`
const readFileAt = (file: string) => `began = time.perf_counter()\npandas.read_csv(${JSON.stringify(file)})`

/** Python that prints how many milliseconds the code takes, from `began` on if the code sets that. */
const timing = (code: string, before = '') =>
  `import time\n${before}\nbegan = time.perf_counter()\n${code}\nprint((time.perf_counter() - began) * 1000)`

export default async function dataRows(): Promise<BenchRow[]> {
  const reason = await whyNot(makeProvider('bubblewrap'))
  if (reason !== undefined) return [{ name: 'not measured', value: reason, goal: 'bubblewrap', ok: null }]
  const folder = mkdtempSync(path.join(tmpdir(), 'sb-'))
  try {
    // The sandboxes of root run as another user.
    chmodSync(folder, 0o755)
    return await measured(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measured(folder: string): Promise<BenchRow[]> {
  const cache = path.join(folder, 'cache')
  const files = path.join(folder, 'files')
  mkdirSync(files)
  const line = '123456,Oslo,987.654321\n'
  for (const [name, bytes] of [
    ['large.csv', FILE_BYTES],
    ['text.csv', TEXT_BYTES],
  ] as const)
    writeFileSync(path.join(files, name), `id,city,price\n${line.repeat(bytes / line.length)}`)
  const env = {
    MCP_BRIDGE_RUNTIME: 'bubblewrap',
    MCP_BRIDGE_CACHE_DIR: cache,
    MCP_BRIDGE_PACKAGES: 'pandas',
    MCP_BRIDGE_POOL: '0',
    MCP_BRIDGE_MEMORY: '3g',
    MCP_BRIDGE_MOUNT: files,
    MCP_BRIDGE_TIMEOUT: '120',
  }
  const bridge = await openTestBridge({ home: makeHome({ files: published.filesystem(files) }), env })
  const result = await bridge.run(timing('import pandas'))
  if (!(Number(result) > 0)) {
    await bridge.client.close()
    return [{ name: 'not measured', value: result.slice(0, 200), goal: 'a package index', ok: null }]
  }
  const packages = path.join(cache, 'packages')
  const [installed = ''] = readdirSync(packages).filter((name) => !name.startsWith('missing-'))
  const plain = (code: string): number => {
    const before = `import sys; sys.path.insert(0, ${JSON.stringify(path.join(packages, installed))})`
    const { stdout, stderr } = spawnSync('python3', ['-c', timing(code, before)], { cwd: '/', encoding: 'utf8' })
    if (!(Number(stdout) > 0)) throw new Error(stderr)
    return Number(stdout)
  }
  const inside = async (code: string): Promise<number> => Number(await bridge.run(timing(code)))
  const compared = async (name: string, code: string, insideCode = code): Promise<BenchRow> => {
    const times = { plain: [] as number[], inside: [] as number[] }
    for (let round = 0; round < ROUNDS; round += 1) {
      times.plain.push(plain(`import pandas\n${code}`))
      times.inside.push(await inside(`import pandas\n${insideCode}`))
    }
    const [here, there] = [median(times.plain), median(times.inside)]
    const share = there / here
    return { name, value: `${ms(there)}, ${ratio(share)} of plain Python`, goal: `≤ ${ratio(2)}`, ok: share <= 2 }
  }
  const asText = `import io\nbegan = time.perf_counter()
pandas.read_csv(io.StringIO(await mcp_files.read_text_file(path=${JSON.stringify(path.join(files, 'text.csv'))})))`
  const textTimes: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) textTimes.push(await inside(asText))
  const text = median(textTimes)
  const rows: BenchRow[] = [
    await compared('group 3 million rows', GROUP_BY),
    await compared(
      'a CSV file of 200 MB, in a mounted folder',
      readFileAt(path.join(files, 'large.csv')),
      readFileAt('/mnt/files/large.csv'),
    ),
    { name: 'a CSV file of 28 MB, sent by a server as text', value: ms(text), goal: '', ok: null },
  ]
  await bridge.client.close()
  return rows
}
