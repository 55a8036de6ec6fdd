import type { ServerContext } from '@modelcontextprotocol/server'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ProgressReporter } from './progress.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('reports numbers that rise, as short as they are', async () => {
  const sent: { progress: number; message?: string }[] = []
  const notify = async ({ params }: { params: { progress: number; message?: string } }) => void sent.push(params)
  const reporter = new ProgressReporter()
  // Of a request, only what a reporter looks at.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  reporter.reportTo({ mcpReq: { _meta: { progressToken: 1 }, notify } } as unknown as ServerContext)
  reporter.listeners.onProgress({ type: 'progress', cell: 1, done: 5, total: 12 })
  for (let count = 0; count < 20; count += 1) {
    reporter.listeners.onOutput('stdout', `${count}\n`)
    await vi.advanceTimersByTimeAsync(100)
  }
  reporter.listeners.onProgress({ type: 'progress', cell: 1, done: 0.1 + 0.2, total: 1 })
  await reporter.stop()
  const numbers = sent.map(({ progress }) => progress)
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
  expect(new Set(numbers).size).toBe(numbers.length)
  expect(numbers.length).toBeGreaterThan(15)
  for (const number of numbers) expect(String(number)).toMatch(/^5(\.\d{1,3})?$/)
  expect(sent[0]!.message).toBe('5 of 12')
  expect(sent.at(-1)!.message).toBe('0.3 of 1')
})
