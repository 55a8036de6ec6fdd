// `npm run bench [-- SECTION …]`: measures, prints a table, writes bench/results.json. Exits with 1 when a goal is
// missed. `--compare REF` measures another commit as well, `--runs` times each.
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { compare } from './compare.ts'
import type { BenchRow } from './row.ts'

/**
 * Each section is loaded when it runs, so that it can be measured alone. `calls:podman` is the section for one kind of
 * sandbox.
 */
const SECTIONS: Record<string, (kinds: string[]) => Promise<BenchRow[]>> = {
  core: async () => (await import('./core.ts')).coreRows(),
  calls: async (kinds) => (await import('./calls.ts')).callRows(kinds),
  catalog: async () => (await import('./catalog/catalog-rows.ts')).catalogRows(),
  containers: async () => (await import('./containers.ts')).containerRows(),
  kubernetes: async () => (await import('./kubernetes.ts')).kubernetesRows(),
  replicas: async () => (await import('./replicas.ts')).replicaRows(),
  forks: async () => (await import('./forks.ts')).forkRows(),
  images: async () => (await import('./images.ts')).imageRows(),
  state: async () => (await import('./state.ts')).stateRows(),
  storage: async () => (await import('./storage.ts')).storageRows(),
  data: async () => (await import('./data.ts')).dataRows(),
  packages: async (kinds) => (await import('./packages.ts')).packageRows(kinds),
  output: async () => (await import('./output.ts')).outputRows(),
  agent: async () => (await import('./agent.ts')).agentRows(),
  upstreams: async () => (await import('./upstreams.ts')).upstreamRows(),
  fairness: async () => (await import('./fairness.ts')).fairnessRows(),
  many: async () => (await import('./many.ts')).manyRows(),
  policy: async () => (await import('./policy.ts')).policyRows(),
  trust: async () => (await import('./trust.ts')).trustRows(),
  registry: async () => (await import('./registry.ts')).registryRows(),
  jail: async () => (await import('./jail.ts')).jailRows(),
  flow: async () => (await import('./flow.ts')).flowRows(),
  pauses: async () => (await import('./pauses.ts')).pauseRows(),
  masking: async () => (await import('./masking.ts')).maskingRows(),
  workflows: async () => (await import('./workflows.ts')).workflowRows(),
  languages: async () => (await import('./languages.ts')).languageRows(),
  see: async () => (await import('./see.ts')).seeRows(),
  bundle: async () => (await import('./bundle.ts')).bundleRows(),
  peers: async () => (await import('./peers.ts')).peerRows(),
  resident: async () => (await import('./resident.ts')).residentRows(),
  page: async () => (await import('./page.ts')).pageRows(),
  arena: async () => (await import('./arena/rows.ts')).arenaRows(),
  package: async () => (await import('./package.ts')).packageRows(),
}

const print = (text: string) => void process.stdout.write(`${text}\n`)

async function measure(wanted: readonly string[], file: string): Promise<void> {
  const results: Record<string, BenchRow[]> = {}
  for (const [section, rowsOf] of Object.entries(SECTIONS)) {
    const chosen = wanted.map((one) => one.split(':')).filter(([name]) => name === section)
    if (wanted.length > 0 && chosen.length === 0) continue
    const rows = await rowsOf(chosen.flatMap(([, kind]) => kind ?? []))
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
const unknown = positionals.find((name) => !Object.hasOwn(SECTIONS, name.split(':')[0]!))
if (unknown !== undefined) throw new Error(`There is no section '${unknown}': ${Object.keys(SECTIONS).join(', ')}`)
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
