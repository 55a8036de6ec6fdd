// What tests leave for their end, also where those of one file run at the same time: vitest itself knows one of them.
import { AsyncLocalStorage } from 'node:async_hooks'
import { aroundEach, onTestFinished, type TestContext, TestRunner } from 'vitest'

const running = new AsyncLocalStorage<TestContext>()

/** For a file whose tests wait most of their time, each for what it has started alone: `describe.concurrent`. */
export function runsTogether(): void {
  aroundEach((test, context) => running.run(context, test))
}

/** The test that calls this; undefined outside of tests. */
export const runningTest = (): TestContext | undefined => running.getStore() ?? TestRunner.getCurrentTest()?.context

export function atEnd(end: () => unknown): void {
  const test = running.getStore()
  if (test === undefined) onTestFinished(() => end() as Promise<void>)
  else test.onTestFinished(() => end() as Promise<void>)
}
