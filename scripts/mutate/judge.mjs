// Which test file catches a mutation: asked of those that run its place, those first that run the fewest others.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { runTool } from './run-tool.mjs'

const MINUTE_MS = 60_000
/** So many test files at once, and how long they may take. The last group has all others. */
const GROUPS = [
  { files: 8, minutes: 5 },
  { files: 40, minutes: 15 },
  { files: Infinity, minutes: 60 },
]

/** Files that pass in the unchanged copy, and those that fail there too, for a reason of their own: not asked again. */
const passing = new Set()
const failing = new Set()

/**
 * @param tests the test files to ask, in this order
 * @param change writes the mutation into the copy, or the original again
 * @returns what caught it: a test file, the build or a time limit; undefined where nothing did
 */
export async function judge(tests, filter, copy, change) {
  let asked = 0
  for (const { files, minutes } of GROUPS) {
    const caught = await firstToFail(tests.slice(asked, asked + files), filter, copy, change, minutes)
    if (caught) return caught
    asked += files
  }
  return undefined
}

async function firstToFail(tests, filter, copy, change, minutes) {
  const group = tests.filter((test) => !failing.has(test))
  if (group.length === 0) return undefined
  change.mutate()
  let caught
  try {
    caught = await firstFailure(copy, group, filter, minutes)
  } finally {
    change.restore()
  }
  if (!caught?.endsWith('.test.ts') || passing.has(caught)) return caught
  if ((await firstFailure(copy, [caught], filter, minutes)) === undefined) {
    passing.add(caught)
    return caught
  }
  failing.add(caught)
  return firstToFail(group, filter, copy, change, minutes)
}

/** The first test file that fails, or why none can be named. */
async function firstFailure(copy, tests, filter, minutes) {
  // Unit tests take no built bridge from dist/.
  const needsBuild = tests.some((test) => /(?:^|\/)test\//.test(test))
  if (needsBuild && !(await runTool(copy, ['scripts/build/build.mjs'], MINUTE_MS)).isGood) return 'the build'
  const report = path.join(copy, '.cache/mutate-report.json')
  rmSync(report, { force: true })
  const options = ['--bail=1', '--passWithNoTests', '--reporter=json', `--outputFile=${report}`]
  const words = ['node_modules/vitest/vitest.mjs', 'run', ...tests, filter, ...options]
  const { isGood, isLate } = await runTool(copy, words, minutes * MINUTE_MS)
  if (isGood) return undefined
  if (isLate) return 'its time limit'
  if (!existsSync(report)) return 'an early end of the run'
  const failed = JSON.parse(readFileSync(report, 'utf8')).testResults.find(({ status }) => status === 'failed')
  return failed ? path.relative(copy, failed.name).replaceAll('\\', '/') : 'an error outside of all tests'
}
