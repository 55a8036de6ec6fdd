// Prints a summary for people and CI: how many tests were skipped and why, how many the first tier leaves out, what
// failed, then `N passed, N failed, N skipped`. Writes the same to the file in SANDBRIDGE_TEST_REPORT.
import { writeFileSync } from 'node:fs'
import { inspect } from 'node:util'
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node'
import {
  IS_FIRST_TIER,
  isOfCluster,
  keyOf,
  LEFT_OUT,
  ONLY,
  type RunReport,
  type SkippedTest,
  WHOLE,
} from './only-listed.ts'

const print = (line: string) => void process.stdout.write(`${line}\n`)

export default class TallyReporter implements Reporter {
  /** Of a run with `-t`, tests of another name are not reported. */
  #isFiltered = false
  /** The tests that this run was asked for, without those of projects that are not in it. */
  #only: SkippedTest[] | undefined

  onInit(vitest: Vitest): void {
    const has = (isCluster: boolean) => vitest.projects.some(({ name }) => (name === 'cluster') === isCluster)
    const [hasCluster, hasOthers] = [has(true), has(false)]
    this.#only = ONLY?.filter(({ file }) => (isOfCluster(file) ? hasCluster : hasOthers))
    this.#isFiltered = ONLY === undefined && vitest.config.testNamePattern !== undefined
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const inState = (state: string) => tests.filter((test) => test.result().state === state)
    // A file that fails to load has no tests to count, and one whose afterAll fails has only tests that passed: neither
    // must look like success. The same holds for a `describe`.
    const broken = modules.flatMap((module) => [module, ...module.children.allSuites()]).filter(hasErrors)
    const report: RunReport = {
      passed: inState('passed').length,
      failed: inState('failed').length + broken.length + unhandledErrors.length,
      failures: [
        ...inState('failed').map((test) => withErrors(test.module, test.fullName, test.result().errors)),
        ...broken.map((part) =>
          part.type === 'module'
            ? withErrors(part, 'the file', part.errors())
            : withErrors(part.module, part.fullName, part.errors()),
        ),
        ...unhandledErrors.map(
          // Those of other threads come as objects without a prototype.
          (error) => `  outside of a test: ${(error as Error | undefined)?.stack ?? inspect(error)}`,
        ),
      ],
      skipped: inState('skipped').map((test) =>
        IS_FIRST_TIER && test.tags.includes(WHOLE) ? { ...toSkipped(test), reason: LEFT_TO_ALL } : toSkipped(test),
      ),
    }
    const ran = new Set(tests.filter(hasRun).map((test) => keyOf(toSkipped(test))))
    if (this.#only !== undefined) keepToList(report, this.#only, ran)
    printFlaky(tests.filter((test) => test.diagnostic()?.flaky))
    if (this.#isFiltered) report.skipped = report.skipped.filter(({ reason }) => reason !== '')
    const skipped = report.skipped.filter(({ reason }) => reason !== LEFT_TO_ALL)
    const left = report.skipped.length - skipped.length
    printSkipped(skipped)
    if (left > 0) print(`left to \`npm run test:all\`: ${left} tests`)
    // Once more after the long list of what was skipped, so that the end of a log says what is wrong.
    if (report.failures.length > 0) print(['failed:', ...report.failures].join('\n'))
    if (skipped.some(({ reason }) => reason === '')) process.exitCode = 1
    const file = process.env['SANDBRIDGE_TEST_REPORT']
    if (file !== undefined) writeFileSync(file, JSON.stringify(report))
    print(`${report.passed} passed, ${report.failed} failed, ${skipped.length} skipped`)
  }
}

const hasErrors = (part: TestModule | TestSuite): boolean => part.errors().length > 0

const hasRun = (test: TestCase): boolean => ['passed', 'failed'].includes(test.result().state)

/** Why the first tier did not run a test. Such tests are in the report for a later run, and count as no skip. */
const LEFT_TO_ALL = 'it is left to `npm run test:all`'

function toSkipped(test: TestCase): SkippedTest {
  const names = [test.name]
  for (let { parent } = test; parent.type === 'suite'; parent = parent.parent) names.unshift(parent.name)
  const result = test.result()
  const reason = (result.state === 'skipped' && result.note) || ''
  return { file: test.module.relativeModuleId.replaceAll('\\', '/'), path: names, reason }
}

/**
 * Of a run of listed tests, those that did not run are what is left to report; tests that were not asked for are not.
 */
function keepToList(report: RunReport, only: readonly SkippedTest[], ran: ReadonlySet<string>): void {
  const reasons = new Map(report.skipped.map((test) => [keyOf(test), test.reason]))
  report.skipped = only
    .filter((test) => !ran.has(keyOf(test)))
    .map((test) => ({ ...test, reason: reasons.get(keyOf(test)) || whyNotRun(test.file) }))
}

const whyNotRun = (file: string): string =>
  LEFT_OUT.includes(file) ? 'only the whole suite of the cluster has it' : 'it was not found'

function printFlaky(tests: readonly TestCase[]): void {
  if (tests.length > 0) print('passed at the second try only:')
  for (const test of tests) print(withErrors(test.module, test.fullName, test.result().errors))
}

function withErrors(file: TestModule, what: string, errors: readonly { message: string }[] = []): string {
  const messages = errors.map(({ message }) => `    ${message.slice(0, MAX_CHARS)}`)
  return [`  ${file.relativeModuleId}: ${what}`, ...messages].join('\n')
}

const MAX_CHARS = 2_000

function printSkipped(skipped: readonly SkippedTest[]): void {
  const byReason = new Map<string, SkippedTest[]>()
  for (const test of skipped) byReason.set(test.reason, [...(byReason.get(test.reason) ?? []), test])
  for (const [reason, tests] of byReason) {
    print(reason === '' ? 'skipped without a reason, which is a failure:' : `skipped because ${reason}:`)
    for (const test of tests) print(`  ${test.file}: ${test.path.join(' > ')}`)
  }
}
