// `npm run bench [-- SECTION …]`: measures, prints a table, writes bench/results.json. Exits with 1 when a goal is
// missed. `--compare REF` measures another commit as well, `--runs` times each. `calls:podman` is the section for one
// kind of sandbox.
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { compare } from './compare.ts'
import type { BenchRow } from './row.ts'
import { rowsOf, SECTIONS } from './sections.ts'

const print = (text: string) => void process.stdout.write(`${text}\n`)

async function measure(wanted: readonly string[], file: string): Promise<void> {
  const results: Record<string, BenchRow[]> = {}
  for (const section of SECTIONS) {
    const chosen = wanted.map((one) => one.split(':')).filter(([name]) => name === section)
    if (wanted.length > 0 && chosen.length === 0) continue
    const rows = await rowsOf(
      section,
      chosen.flatMap(([, kind]) => kind ?? []),
    )
    results[section] = rows
    print(`\n## ${section}\n\n| row | measured | goal | |\n|---|---|---|---|`)
    for (const { name, value, goal, ok } of rows) {
      print(`| ${name} | ${value} | ${goal} | ${ok === null ? '' : ok ? 'reached' : '**missed**'} |`)
    }
  }
  const machine = { node: process.version, platform: process.platform, cpus: cpus().length }
  writeFileSync(file, `${JSON.stringify({ ...machine, results }, null, 2)}\n`)
  const all = Object.values(results).flat()
  if (all.some((row) => row.ok === false)) process.exitCode = 1
}

const { values: options, positionals } = parseArgs({
  options: { compare: { type: 'string' }, runs: { type: 'string', default: '3' }, rows: { type: 'string' } },
  allowPositionals: true,
})
const unknown = positionals.find((name) => !SECTIONS.includes(name.split(':')[0]!))
// A comparison's other tree may lack it.
if (unknown !== undefined && options.rows === undefined)
  throw new Error(`There is no section '${unknown}': ${SECTIONS.join(', ')}`)
print(`Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} × ${cpus()[0]?.model ?? 'CPU'}`)
if (options.compare === undefined) {
  // It says where the parts are.
  await import('@sandbridge/sandbridge/packages.ts')
  await measure(positionals, options.rows ?? fileURLToPath(new URL('results.json', import.meta.url)))
} else {
  const rows = compare(options.compare, positionals, Number(options.runs))
  print(`\n| row | ${options.compare} | this tree |\n|---|---|---|`)
  for (const { name, before, now } of rows) print(`| ${name} | ${before} | ${now} |`)
}
