import type { ServerContext } from '@modelcontextprotocol/server'
import { beforeEach, expect, it, vi } from 'vitest'
import { ProgressReporter } from './progress.ts'

interface Sent {
  progress: number
  total?: number
  message?: string
}

/** A reporter for one request, with the notifications it sends and their times. */
function open(progressToken?: number) {
  const sent: (Sent & { atMs: number })[] = []
  const startedAt = performance.now()
  const notify = async ({ params }: { params: Sent }) =>
    void sent.push({ ...params, atMs: performance.now() - startedAt })
  const reporter = new ProgressReporter()
  const meta = progressToken === undefined ? {} : { progressToken }
  // A reporter looks only at these parts of a request.
  reporter.reportTo({ mcpReq: { _meta: meta, notify } } as unknown as ServerContext)
  return { reporter, sent }
}

beforeEach(() => void vi.useFakeTimers())

it('progress is reported with rising numbers that are as short as possible', async () => {
  const { reporter, sent } = open(1)
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

it('progress tells a client every 10 to 15 s that a silent cell still runs', async () => {
  const { sent } = open(1)
  await vi.advanceTimersByTimeAsync(75_000)
  const times = [0, ...sent.map(({ atMs }) => atMs), 75_000]
  const gaps = times.slice(1).map((time, index) => time - times[index]!)
  expect(Math.max(...gaps)).toBeLessThanOrEqual(15_000)
  expect(Math.min(...gaps.slice(0, -1))).toBeGreaterThanOrEqual(10_000)
  expect(sent[1]!.message).toBe('Running for 24 s')
  const numbers = sent.map(({ progress }) => progress)
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
})

it('progress counts the silence from the last notification, and names the tool that the cell waits for', async () => {
  const { reporter, sent } = open(1)
  await vi.advanceTimersByTimeAsync(8_000)
  reporter.listeners.onToolCall({ name: 'slow.wait', number: 1, total: 1 })
  await vi.advanceTimersByTimeAsync(19_000)
  expect(sent.map(({ message }) => message)).toEqual(['calling slow.wait (1 of 1)', 'Running for 20 s'])
})

it('progress stops after the request was answered, and is not sent to a client that wants none', async () => {
  const { reporter, sent } = open(1)
  await reporter.stop()
  const without = open()
  await vi.advanceTimersByTimeAsync(60_000)
  expect([...sent, ...without.sent]).toEqual([])
})

it('progress includes what a server reports about its own', async () => {
  const { reporter, sent } = open(1)
  reporter.listeners.onUpstreamProgress?.({ name: 'maps.render', done: 2, total: 5, message: 'tiles\u001b[31m' })
  await vi.advanceTimersByTimeAsync(200)
  reporter.listeners.onUpstreamProgress?.({ name: 'maps.render', done: 3 })
  await vi.advanceTimersByTimeAsync(200)
  expect(sent.map(({ message }) => message)).toEqual(['maps.render: 2 of 5, tiles', 'maps.render: 3'])
})

it('progress is requested from servers only for a client that requested it', () => {
  expect(open(1).reporter.listeners.onUpstreamProgress).toBeDefined()
  expect(open().reporter.listeners.onUpstreamProgress).toBeUndefined()
})
