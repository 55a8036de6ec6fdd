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
  core: async () => (await import('./rows/core.ts')).coreRows(),
  calls: async (kinds) => (await import('./rows/calls.ts')).callRows(kinds),
  catalog: async () => (await import('./catalog/catalog-rows.ts')).catalogRows(),
  containers: async () => (await import('./rows/containers.ts')).containerRows(),
  kubernetes: async () => (await import('./rows/kubernetes.ts')).kubernetesRows(),
  replicas: async () => (await import('./rows/replicas.ts')).replicaRows(),
  forks: async () => (await import('./rows/forks.ts')).forkRows(),
  images: async () => (await import('./rows/images.ts')).imageRows(),
  state: async () => (await import('./rows/state.ts')).stateRows(),
  storage: async () => (await import('./rows/storage.ts')).storageRows(),
  data: async () => (await import('./rows/data.ts')).dataRows(),
  packages: async (kinds) => (await import('./rows/packages.ts')).packageRows(kinds),
  output: async () => (await import('./rows/output.ts')).outputRows(),
  agent: async () => (await import('./rows/agent.ts')).agentRows(),
  upstreams: async () => (await import('./rows/upstreams.ts')).upstreamRows(),
  fairness: async () => (await import('./rows/fairness.ts')).fairnessRows(),
  many: async () => (await import('./rows/many.ts')).manyRows(),
  policy: async () => (await import('./rows/policy.ts')).policyRows(),
  trust: async () => (await import('./rows/trust.ts')).trustRows(),
  registry: async () => (await import('./rows/registry.ts')).registryRows(),
  jail: async () => (await import('./rows/jail.ts')).jailRows(),
  flow: async () => (await import('./rows/flow.ts')).flowRows(),
  pauses: async () => (await import('./rows/pauses.ts')).pauseRows(),
  masking: async () => (await import('./rows/masking.ts')).maskingRows(),
  workflows: async () => (await import('./rows/workflows.ts')).workflowRows(),
  languages: async () => (await import('./rows/languages.ts')).languageRows(),
  see: async () => (await import('./rows/see.ts')).seeRows(),
  bundle: async () => (await import('./rows/bundle.ts')).bundleRows(),
  peers: async () => (await import('./rows/peers.ts')).peerRows(),
  resident: async () => (await import('./rows/resident.ts')).residentRows(),
  page: async () => (await import('./rows/page.ts')).pageRows(),
  arena: async () => (await import('./arena/rows.ts')).arenaRows(),
  package: async () => (await import('./rows/package.ts')).packageRows(),
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
