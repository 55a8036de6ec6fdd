// Which test file catches a mutation, asked in steps that stop at the first failure: the first tier before the whole
// suite, and the tests that are likeliest to catch it before all others.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { namedTests } from '../named-tests.mjs'

const MINUTE_MS = 60_000

const FIRST_TIER = '--tags-filter=!whole'
const LEFT_OUT = '--tags-filter=whole'
/** Of the tests that import the file, none takes the built bridge from dist/. */
export const STEPS = [
  { name: 'first tier, tests that import it', filter: FIRST_TIER, words: importing, minutes: 5 },
  { name: 'first tier, tests named after it', filter: FIRST_TIER, words: named, minutes: 15, isBuilt: true },
  { name: 'first tier, all tests', filter: FIRST_TIER, words: () => ['run'], minutes: 30, isBuilt: true },
  { name: 'left out, tests that import it', filter: LEFT_OUT, isLeftOut: true, words: importing, minutes: 5 },
  {
    name: 'left out, tests named after it',
    filter: LEFT_OUT,
    isLeftOut: true,
    words: named,
    minutes: 15,
    isBuilt: true,
  },
  { name: 'left out, all tests', filter: LEFT_OUT, isLeftOut: true, words: () => ['run'], minutes: 90, isBuilt: true },
]

/** Undefined where there is no such test. */
function importing(file) {
  return file.endsWith('.ts') ? ['related', file, '--run', '--exclude=**/test/**'] : undefined
}

function named(file, copy) {
  const tests = execFileSync('git', ['ls-files'], { cwd: copy, encoding: 'utf8' }).split('\n')
  const chosen = namedTests(
    [file],
    tests.filter((name) => /(?:^|\/)test\/.*\.test\.ts$/.test(name)),
  )
  return chosen.length > 0 ? ['run', ...chosen] : undefined
}

/** Files that pass in the unchanged copy. Another may have failed for a reason of its own. */
const passing = new Set()

/**
 * @param change writes the mutation into the copy, or the original again
 * @returns what caught it: a test file, the build or a time limit; undefined where nothing did
 */
export async function judge(step, file, copy, change) {
  const words = step.words(file, copy)
  if (words === undefined) return undefined
  const runTests = async (...tests) => {
    if (step.isBuilt && !(await run(copy, ['scripts/build.mjs'], MINUTE_MS)).isGood) return 'the build'
    return firstFailure(
      copy,
      [...(tests.length > 0 ? ['run', ...tests] : words), step.filter],
      step.minutes * MINUTE_MS,
    )
  }
  change.mutate()
  let caught
  try {
    caught = await runTests()
  } finally {
    change.restore()
  }
  if (caught?.endsWith('.test.ts') && !passing.has(caught)) {
    if ((await runTests(caught)) !== undefined) return undefined
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
