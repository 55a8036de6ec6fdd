// Which test file catches a mutation, asked in steps that stop at the first failure: the first tier before the whole
// suite, and the tests that are likeliest to catch it before all others.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { namedTests } from '../test/named-tests.mjs'
import { unitTests } from './unit-tests.mjs'

const MINUTE_MS = 60_000

export const STEPS = [...stepsOf('first tier', '--tags-filter=!whole'), ...stepsOf('left out', '--tags-filter=whole')]

function stepsOf(tier, filter) {
  return [
    // Unit tests take no built bridge from dist/.
    { name: 'unit tests that import it', tests: (...one) => unitTests(...one, false), minutes: 3 },
    { name: 'tests named after it', tests: named, minutes: 15, isBuilt: true },
    { name: 'unit tests that import its importers', tests: (...one) => unitTests(...one, true), minutes: 10 },
    { name: 'all tests', minutes: 60, isBuilt: true },
  ].map((step) => ({ ...step, tier, filter, name: `${tier}, ${step.name}` }))
}

function named(file, copy) {
  const tests = execFileSync('git', ['ls-files'], { cwd: copy, encoding: 'utf8' }).split('\n')
  return namedTests(
    [file],
    tests.filter((name) => /(?:^|\/)test\/.*\.test\.ts$/.test(name)),
  )
}

/** Files that pass in the unchanged copy. Another may have failed for a reason of its own. */
const passing = new Set()

/**
 * @param change writes the mutation into the copy, or the original again
 * @returns what caught it: a test file, the build or a time limit; undefined where nothing did
 */
export async function judge(step, file, copy, change) {
  const chosen = step.tests?.(file, copy)
  if (chosen?.length === 0) return undefined
  const runTests = async (tests = []) => {
    if (step.isBuilt && !(await run(copy, ['scripts/build/build.mjs'], MINUTE_MS)).isGood) return 'the build'
    return firstFailure(copy, ['run', ...tests, step.filter], step.minutes * MINUTE_MS)
  }
  change.mutate()
  let caught
  try {
    caught = await runTests(chosen)
  } finally {
    change.restore()
  }
  if (caught?.endsWith('.test.ts') && !passing.has(caught)) {
    if ((await runTests([caught])) !== undefined) return undefined
    passing.add(caught)
  }
  return caught
}

/** The first test file that fails, or why none can be named. */
async function firstFailure(copy, words, limitMs) {
  const report = path.join(copy, '.cache/mutate-report.json')
  rmSync(report, { force: true })
  const options = ['--bail=1', '--passWithNoTests', '--reporter=json', `--outputFile=${report}`]
  const { isGood, isLate } = await run(copy, ['node_modules/vitest/vitest.mjs', ...words, ...options], limitMs)
  if (isGood) return undefined
  if (isLate) return 'its time limit'
  if (!existsSync(report)) return 'an early end of the run'
  const failed = JSON.parse(readFileSync(report, 'utf8')).testResults.find(({ status }) => status === 'failed')
  return failed ? path.relative(copy, failed.name).replaceAll('\\', '/') : 'an error outside of all tests'
}

/** A program of Node, with the processes that it starts: those of tests outlive it otherwise. */
function run(copy, args, limitMs) {
  return new Promise((resolve) => {
    const isGroup = process.platform !== 'win32'
    const child = spawn(process.execPath, args, { cwd: copy, stdio: 'ignore', detached: isGroup })
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      if (child.pid !== undefined) process.kill(isGroup ? -child.pid : child.pid, 'SIGKILL')
    }, limitMs)
    child.on('close', (exitCode) => {
      clearTimeout(timer)
      resolve({ isGood: exitCode === 0, isLate })
    })
  })
}
