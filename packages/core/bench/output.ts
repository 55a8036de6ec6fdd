// Rows of output: the tokens that results cost the model, and the cost of a flood of output for the bridge.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { estimateTokens } from '../src/util/tokens/estimate-tokens.ts'
import { connectBare } from '@sandbridge/core/test/support/bridges/bare-client.ts'
import { closeTestBridge, openTestBridge, published } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import type { ServerEntry, TestBridge } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { median, ratio, samples, timed } from '../../../bench/measure.ts'
import type { BenchRow } from '../../../bench/row.ts'

export default async function outputRows(): Promise<BenchRow[]> {
  return [...(await everydayRows()), await estimateRow(), ...(await floodRows()), ...(await workflowRows())]
}

/** Every long result is estimated several times before it is cut. */
async function estimateRow(): Promise<BenchRow> {
  const text = readFileSync(path.join(import.meta.dirname, '../../../docs/configuration.md'), 'utf8')
  const [estimated, counted]: [number[], number[]] = [[], []]
  for (let round = 0; round < 15; round += 1) {
    estimated.push(await timed(async () => estimateTokens(text)))
    counted.push(await timed(async () => countTokens(text)))
  }
  const value = median(estimated) / median(counted)
  const name = 'tokens of a long text: estimated ÷ counted by a tokenizer'
  return { name, value: ratio(value), goal: `≤ ${ratio(ESTIMATE_LIMIT)}`, ok: value <= ESTIMATE_LIMIT }
}

const ESTIMATE_LIMIT = 0.5

/** Typical results of cells. */
const EVERYDAY: Record<string, string> = {
  'a number': '6 * 7',
  nothing: 'x = 1',
  'a line': 'print("Created issue #12 in octo/hello")',
  'a table of 50 rows':
    'for i in range(50): print(f"{i:>4}  item {i:<10} {i * 13.7:>10.2f}  {"open" if i % 3 else "closed"}")',
  'a list of records': '[{"id": i, "name": f"item {i}", "labels": ["a", "b"], "open": i % 2 == 0} for i in range(30)]',
  'an error': 'def total(rows):\n    return sum(row["price"] for row in rows)\ntotal([{"price": 1}, {"cost": 2}])',
  'a warning and a result': 'import sys\nprint("skipped 2 rows", file=sys.stderr)\n{"rows": 98}',
  'a log of 2 MB':
    'for i in range(30_000): print(f"2026-11-20T10:00:00Z INFO request {i} to /api/items/{i} took {i % 97} ms")',
  'a progress bar':
    'import sys\nfor i in range(101): print(f"\\r{i:>3}% |{"#" * (i // 5):<20}|", end="", file=sys.stderr)\nprint("done")',
  'an image':
    'type("Figure", (), {"__repr__": lambda s: "<Figure size 640x480>", "_repr_png_": lambda s: bytes(3000)})()',
}

/**
 * The same result with every field, as indented JSON with a list of lines per stream: the format of a bridge without a
 * budget.
 */
function inFull(result: { stdout: string; stderr: string; value?: unknown; error?: unknown; status: string }): string {
  const lines = (text: string) => text.split('\n')
  const { status, stdout, stderr, value = null, error = null } = result
  const fields = {
    status,
    exitCode: status === 'ok' ? 0 : 1,
    stdout: lines(stdout),
    stderr: lines(stderr),
    value,
    error,
  }
  return JSON.stringify({ ...fields, servers: [], timeoutSeconds: 30, runtime: 'pyodide' }, null, 2)
}

async function everydayRows(): Promise<BenchRow[]> {
  const bridge = await openTestBridge()
  const ratios: number[] = []
  for (const code of Object.values(EVERYDAY)) {
    const { text, structured } = await bridge.call({ code })
    // Without structuredContent: use the whole output that the bridge keeps of a long result, and the text of one with
    // an image.
    const long = 'status' in structured ? structured : { status: 'ok', stdout: await outputOf(bridge, text) }
    const full = inFull({ stdout: '', stderr: '', status: 'ok', ...long })
    ratios.push(countTokens(text) / countTokens(full))
  }
  await closeTestBridge(bridge)
  const mean = ratios.reduce((sum, one) => sum + one, 0) / ratios.length
  const name = `tokens of ${ratios.length} everyday results ÷ the same as JSON with all fields (mean of the ratios)`
  return [{ name, value: ratio(mean), goal: '≤ 0.50 ×', ok: mean <= 0.5 }]
}

async function outputOf(bridge: TestBridge, text: string): Promise<string> {
  const [uri] = /sandbridge:\/\/output\/\S+\/\d+/.exec(text) ?? []
  if (uri === undefined) return text
  const { contents } = await bridge.client.readResource({ uri })
  return (contents[0] as { text: string }).text
}

const FLOOD = 'for i in range(1_000_000): print("x" * 99)'

async function floodRows(): Promise<BenchRow[]> {
  const hasPython = spawnSync('python3', ['--version']).status === 0
  if (!hasPython) {
    return [{ name: '100 MB of stdout ÷ plain python3', value: 'no python3 here', goal: '≤ 3.00 ×', ok: null }]
  }
  const plain = median(
    await samples(5, () =>
      timed(async () => void spawnSync('python3', ['-c', FLOOD], { stdio: ['ignore', 'ignore', 'ignore'] })),
    ),
  )
  const rows: BenchRow[] = []
  for (const runtime of ['bubblewrap', 'pyodide']) {
    const bridge = await openTestBridge({ env: { MCP_BRIDGE_RUNTIME: runtime } })
    const works = !(await bridge.call({ code: 'pass', timeout: 100 })).isError
    const flood = () => timed(() => bridge.call({ code: FLOOD, timeout: 100 }))
    const first = works ? [await flood()] : []
    const memory = works ? peakMemory(bridge.pid) : undefined
    const times = works ? [...first, ...(await samples(4, flood))] : []
    await closeTestBridge(bridge)
    const name = `100 MB of stdout in ${runtime} ÷ plain python3 > /dev/null`
    const slower = median(times) / plain
    // In WebAssembly, Python alone takes longer than the goal, even when print() writes nowhere.
    const goal = runtime === 'pyodide' ? 'none in WebAssembly' : '≤ 3.00 ×'
    rows.push(
      works
        ? { name, value: ratio(slower), goal, ok: runtime === 'pyodide' ? null : slower <= 3 }
        : { name, value: `no ${runtime} here`, goal, ok: null },
    )
    if (memory === undefined) continue
    const megabytes = memory / 2 ** 20
    const row = `memory of the bridge at its most, after 100 MB of stdout from ${runtime}`
    rows.push({ name: row, value: `${megabytes.toFixed(0)} MB`, goal: '≤ 150 MB', ok: megabytes <= 150 })
  }
  return rows
}

/** Peak resident memory in bytes; Linux only. */
function peakMemory(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
}

/** Twelve calls over three servers: reads eight reports, sums them up, writes the result in two places, checks it. */
async function workflowRows(): Promise<BenchRow[]> {
  const bridge = await openTestBridge()
  await closeTestBridge(bridge)
  const folder = path.join(bridge.home, 'reports')
  mkdirSync(folder, { recursive: true })
  const reports = Array.from({ length: 8 }, (_, index) => path.join(folder, `region-${index}.csv`))
  for (const [index, file] of reports.entries()) writeFileSync(file, report(index))
  const servers = {
    files: published.filesystem(folder),
    memory: published.memory(path.join(folder, 'memory.jsonl')),
    everything: published.everything(),
  }
  // A throwaway folder has another name each time, which would change the figures.
  const tokensOf = (text: string) => countTokens(text.replaceAll(folder, '/home/ann/reports'))
  const direct = await directTokens(servers, reports, tokensOf)
  const ours = await openTestBridge({ servers })
  const code = `import csv, io
totals = {}
for name in (await mcp_files.list_directory(path=${JSON.stringify(folder)})).splitlines():
    if ".csv" in name:
        text = await mcp_files.read_text_file(path=${JSON.stringify(`${folder}/`)} + name.split()[-1])
        text = text if isinstance(text, str) else str(text)
        totals[name.split()[-1]] = sum(float(row["amount"]) for row in csv.DictReader(io.StringIO(text)))
best = max(totals, key=totals.get)
await mcp_memory.create_entities(entities=[{"name": best, "entityType": "region", "observations": [f"best: {totals[best]:.2f}"]}])
await mcp_memory.search_nodes(query="best")
await mcp_everything.echo(message=best)
best, round(totals[best], 2)`
  const { text, isError } = await ours.call({ code, timeout: 100 })
  await closeTestBridge(ours)
  const seen = tokensOf(JSON.stringify({ code })) + tokensOf(text)
  const name = 'a workflow of 12 calls over three servers: tokens of calls and results ÷ the same called directly'
  if (isError) return [{ name, value: text, goal: '≤ 0.10 ×', ok: false }]
  return [
    {
      name,
      value: `${ratio(seen / direct)} (${seen} of ${direct.toLocaleString('en')})`,
      goal: '≤ 0.10 ×',
      ok: seen / direct <= 0.1,
    },
  ]
}

function report(region: number): string {
  const rows = Array.from(
    { length: 100 },
    (_, i) => `2026-10-${10 + (i % 20)},customer ${i},${(i * 7.31 + region).toFixed(2)}`,
  )
  return `date,customer,amount\n${rows.join('\n')}\n`
}

async function directTokens(
  servers: Record<string, ServerEntry>,
  reports: string[],
  tokensOf: (text: string) => number,
): Promise<number> {
  const clients: Record<string, Client> = {}
  for (const [name, entry] of Object.entries(servers)) {
    clients[name] = (await connectBare(entry)).client
  }
  const calls: [server: string, tool: string, args: Record<string, unknown>][] = [
    ['files', 'list_directory', { path: path.dirname(reports[0]!) }],
    ...reports.map((file): [string, string, Record<string, unknown>] => ['files', 'read_text_file', { path: file }]),
    ['memory', 'create_entities', { entities: [{ name: 'r', entityType: 'region', observations: ['best: 1'] }] }],
    ['memory', 'search_nodes', { query: 'best' }],
    ['everything', 'echo', { message: 'r' }],
  ]
  let tokens = 0
  for (const [server, name, args] of calls) {
    const { content } = await clients[server]!.callTool({ name, arguments: args })
    const text = (content as { text?: string }[]).map((block) => block.text ?? '').join('\n')
    tokens += tokensOf(JSON.stringify({ name, arguments: args })) + tokensOf(text)
  }
  await Promise.all(Object.values(clients).map((client) => client.close()))
  return tokens
}
