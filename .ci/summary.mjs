// The end of .ci/run: what failed, once more, and the last line `N passed, N failed, N skipped`.
//
//     node .ci/summary.mjs REPORTS [STEP=LOG …]
//
// REPORTS holds what the runs of the tests reported: one.json, newest.json, jails.json, relays.json, two.json and
// cluster.json.
// Each STEP is a step that ended with an error; the end of its LOG is shown, because the cause may stand far above in a
// long output.
// Exit code 1 when anything failed.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

const SHOWN_LINES = 40

const print = (line) => void process.stdout.write(`${line}\n`)

const [reports, ...steps] = process.argv.slice(2)
const none = { passed: 0, failed: 0, failures: [], skipped: [] }
const read = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined)
const [one, newest, jails, relays, two, cluster] = ['one', 'newest', 'jails', 'relays', 'two', 'cluster'].map(
  (name) => read(path.join(reports, `${name}.json`)) ?? none,
)
const runs = [one, newest, jails, relays, two, cluster]

const failures = runs.flatMap((run) => run.failures)
// A test that stage two skips for a reason that is not known has lost what it needs.
const known = read(path.join(import.meta.dirname, 'known-skips.json')).map((pattern) => new RegExp(pattern))
const late = [...relays.skipped, ...two.skipped, ...cluster.skipped]
const lost = late.filter(({ reason }) => !known.some((pattern) => pattern.test(reason)))
for (const test of lost)
  failures.push(`  ${test.file}: ${test.path.join(' > ')}: skipped in CI, because ${test.reason}`)

const failedTests = runs.reduce((sum, run) => sum + run.failed, 0) + lost.length
// The tests of a step with failed tests are listed already; any other step that failed is a failure of its own.
const unexplained = steps.filter((step) => !(step.startsWith('tests ') && failedTests > 0))
for (const step of unexplained) {
  const [name, log] = [step.slice(0, step.indexOf('=')), step.slice(step.indexOf('=') + 1)]
  const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n').slice(-SHOWN_LINES) : []
  failures.push([`  ${name} failed, and its output ends so:`, ...lines.map((line) => `    ${line}`)].join('\n'))
}

if (failures.length > 0) print(['failed:', ...failures].join('\n'))
const failed = failedTests + unexplained.length
const skipped = one.skipped.filter(({ reason }) => reason.startsWith('only on ')).length + late.length
print(`${one.passed + relays.passed + two.passed + cluster.passed} passed, ${failed} failed, ${skipped} skipped`)
process.exitCode = failed > 0 ? 1 : 0
