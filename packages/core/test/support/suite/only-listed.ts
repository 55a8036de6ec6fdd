// The tests that an earlier run on a plainer machine skipped, when SANDBRIDGE_TEST_ONLY names its report: this run
// makes up for them, and runs no other.
import { readFileSync } from 'node:fs'

/** How one run ended, as the tally reporter writes it to the file in SANDBRIDGE_TEST_REPORT. */
export interface RunReport {
  passed: number
  failed: number
  /** What failed, with the errors, as printed. */
  failures: string[]
  skipped: SkippedTest[]
}

export interface SkippedTest {
  /** Relative to the project, with `/`. */
  file: string
  /**
   * The names of its `describe`s and its own, outermost first. A later run finds the test by them, so they name no
   * folder of this machine.
   */
  path: string[]
  reason: string
}

/** A test that can never run on this kind of machine. */
const OTHER_PLATFORM = /^only on /

/** The tag of tests that the first tier leaves out. */
export const WHOLE = 'whole'

/** Whether this run is the first tier. It also leaves out tests behind relays, which it runs without them. */
export const IS_FIRST_TIER = new RegExp(`--tags-filter[= ]!${WHOLE}\\b`).test(process.argv.join(' '))

const report = process.env['SANDBRIDGE_TEST_ONLY'] || undefined

/**
 * What a run with SANDBRIDGE_TEST_CLUSTER=short leaves out: they take longest on a real cluster, and a cluster like it
 * that tests make up tells most of the same.
 */
export const LEFT_OUT =
  process.env['SANDBRIDGE_TEST_CLUSTER'] === 'short'
    ? [
        'packages/kubernetes/test/contract/kubernetes-real.test.ts',
        'packages/kubernetes/test/e2e/durable-pods-real.test.ts',
        'packages/kubernetes/test/e2e/helm-real.test.ts',
        'packages/kubernetes/test/e2e/kubernetes-servers-real.test.ts',
      ]
    : []

/** Undefined in a run of all tests. */
export const ONLY: SkippedTest[] | undefined = report === undefined ? undefined : listIn(report)

function listIn(file: string): SkippedTest[] {
  const { skipped } = JSON.parse(readFileSync(file, 'utf8')) as RunReport
  return skipped.filter(({ reason }) => !OTHER_PLATFORM.test(reason))
}

/** Settings of vitest that choose the files and names of the listed tests. */
export function onlyListed(): { include?: string[]; testNamePattern?: string } {
  if (ONLY === undefined) return {}
  const names = ONLY.map(({ path }) => path.join(' ').replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return {
    include: [...new Set(ONLY.map(({ file }) => file))],
    testNamePattern: `^(?:${names.join('|')})$`,
  }
}

/** Whether a file takes a real cluster. */
export const isOfCluster = (file: string): boolean => file.endsWith('-real.test.ts')

/** What tells one test from all others. */
export const keyOf = ({ file, path }: Pick<SkippedTest, 'file' | 'path'>): string => [file, ...path].join(' > ')
