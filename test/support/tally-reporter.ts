// Prints a summary for people and CI: why each test was skipped, which needed a second try and why, then `N passed, N failed, N skipped`.
import type { Reporter, TestCase, TestModule } from 'vitest/node'

const print = (line: string) => void process.stdout.write(`${line}\n`)

export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const inState = (state: string) => tests.filter((test) => test.result().state === state)
    // A file that fails to load has no tests to count, and must not look like success.
    const brokenFiles = modules.filter((module) => module.state() === 'failed' && module.errors().length > 0)

    for (const [reason, names] of byReason(inState('skipped'))) {
      print(`skipped because ${reason}:`)
      for (const name of names) print(`  ${name}`)
    }
    const flaky = tests.filter((test) => test.diagnostic()?.flaky)
    if (flaky.length > 0) print('passed at the second try only:')
    for (const test of flaky) {
      print(`  ${test.module.relativeModuleId}: ${test.fullName}`)
      for (const { message, diff } of test.result().errors ?? []) print(indented(`${message}\n${diff ?? ''}`))
    }
    const failed = inState('failed').length + brokenFiles.length + unhandledErrors.length
    print(`${inState('passed').length} passed, ${failed} failed, ${inState('skipped').length} skipped`)
  }
}

const MAX_CHARS = 2_000

const indented = (text: string): string => text.trim().slice(0, MAX_CHARS).replaceAll(/^/gm, '    ')

function byReason(skipped: TestCase[]): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const test of skipped) {
    const result = test.result()
    const reason = (result.state === 'skipped' && result.note) || 'no reason was given'
    groups.set(reason, [...(groups.get(reason) ?? []), test.fullName])
  }
  return groups
}
