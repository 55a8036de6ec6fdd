// `npm run bench [-- SECTION …]`: measures, prints a table, writes bench/results.json. Exits with 1 when a goal was missed.
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import type { BenchRow } from './row.ts'

/** Each section is loaded when it runs, so that one can be measured alone. */
const SECTIONS: Record<string, () => Promise<BenchRow[]>> = {
  core: async () => (await import('./core.ts')).coreRows(),
  catalog: async () => (await import('./catalog/catalog-rows.ts')).catalogRows(),
  containers: async () => (await import('./containers.ts')).containerRows(),
  state: async () => (await import('./state.ts')).stateRows(),
  output: async () => (await import('./output.ts')).outputRows(),
  agent: async () => (await import('./agent.ts')).agentRows(),
  upstreams: async () => (await import('./upstreams.ts')).upstreamRows(),
  fairness: async () => (await import('./fairness.ts')).fairnessRows(),
  package: async () => (await import('./package.ts')).packageRows(),
}

const print = (text: string) => void process.stdout.write(`${text}\n`)

function printTable(section: string, rows: BenchRow[]): void {
  print(`\n## ${section}\n\n| row | measured | goal | |\n|---|---|---|---|`)
  for (const { name, value, goal, ok } of rows) {
    print(`| ${name} | ${value} | ${goal} | ${ok === null ? '' : ok ? 'reached' : '**missed**'} |`)
  }
}

const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !(name in SECTIONS))
if (unknown !== undefined) throw new Error(`There is no section '${unknown}': ${Object.keys(SECTIONS).join(', ')}`)

print(`Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} × ${cpus()[0]?.model ?? 'CPU'}`)
const results: Record<string, BenchRow[]> = {}
for (const [section, measure] of Object.entries(SECTIONS)) {
  if (wanted.length > 0 && !wanted.includes(section)) continue
  results[section] = await measure()
  printTable(section, results[section])
}
writeFileSync(
  new URL('results.json', import.meta.url),
  `${JSON.stringify({ node: process.version, platform: process.platform, cpus: cpus().length, results }, null, 2)}\n`,
)
if (
  Object.values(results)
    .flat()
    .some((row) => row.ok === false)
)
  process.exitCode = 1
