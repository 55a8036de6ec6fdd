// @module-tag whole: it needs a browser
// This file verifies that the page stays small and correct with much to show: ten thousand runs, a flood of calls, a
// hundred pages.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import type { Bridge } from '../../../core/src/bridge/bridge.ts'
import { servePage } from '../../src/serve-page.ts'
import { goTo, openPage } from '../support/browser-page.ts'
import { openObserved } from '@sandbridge/core/test/support/bridges/observed-bridge.ts'

const RUNS = 10_000

function emitRuns({ events }: Pick<Bridge, 'events'>, count: number): void {
  const about = { session: 'many', client: 'flood' }
  for (let number = 1; number <= count; number += 1) {
    // Like a bridge's ids, sorted by time.
    const id = `cell-${String(number).padStart(6, '0')}`
    const cell = { id, ...about, number, code: `step(${number})`, servers: [], timeoutMs: 1_000 }
    events.emit({ type: 'cell.started', ...cell, sandbox: 's', provider: 'pyodide' })
    events.emit({ type: 'cell.ended', id, ...about, status: 'ok', durationMs: 1, stateLost: false })
  }
  events.flush()
}

it('a page with ten thousand runs draws as many rows as fit', async () => {
  const { page, bridge, problems } = await openPage()
  emitRuns(bridge, RUNS)
  await goTo(page, 'Record')
  await page.getByText(/\d+ runs, and older ones/).waitFor()
  const rows = page.locator('.row')
  expect(await rows.count()).toBeLessThan(60)
  expect(await rows.first().innerText()).toContain(`step(${RUNS})`)
  while (!(await page.getByText('step(1)', { exact: true }).isVisible())) {
    await page.locator('.virtual').evaluate((box) => ((box as { scrollTop?: number }).scrollTop = 1e9))
    await sleep(50)
  }
  await page.getByText(`${RUNS.toLocaleString('en')} runs`, { exact: true }).waitFor()
  expect(await rows.count()).toBeLessThan(60)
  await page.getByRole('searchbox').fill('step(77)')
  await page.getByText('step(77)', { exact: true }).click()
  await page.getByRole('group', { name: 'Code' }).getByText('step(77)').waitFor()
  expect(problems).toEqual([])
})

it('a page draws a bounded part of a hundred thousand calls, and counts them all', async () => {
  const { page, bridge, problems } = await openPage()
  const { events } = bridge
  events.emit({
    type: 'cell.started',
    id: 'flood',
    session: 's',
    number: 1,
    code: 'flood()',
    servers: [],
    timeoutMs: 1,
    sandbox: 's',
    provider: 'p',
  })
  for (let index = 0; index < 100_000; index += 1) {
    const call = { id: `call-${index}`, parent: 'flood', kind: 'tool' as const, server: 's', name: 't' }
    events.emit({ type: 'call.started', ...call, args: { index } })
    events.emit({ type: 'call.ended', ...call, outcome: 'ok', durationMs: 1, result: { content: [] } })
  }
  await page.getByText('The last 30 of 100,000 calls').waitFor()
  expect(await page.locator('.call').count()).toBe(30)
  expect(problems).toEqual([])
})

it('the bridge serves a hundred pages at once, and refuses the next', async () => {
  const { bridge } = await openObserved()
  const service = await servePage(bridge, 0)
  onTestFinished(() => service.close())
  const link = service.newLink()
  const opened = await fetch(link, { method: 'POST', headers: { origin: new URL(link).origin } })
  const headers = {
    cookie: opened.headers.get('set-cookie')!.split(';')[0]!,
    'x-sandbridge-key': /#key=([\w-]+)/.exec(await opened.text())![1]!,
  }
  const stream = () => fetch(new URL('/ui/api/events', link), { headers })
  const pages = await Promise.all(Array.from({ length: 100 }, stream))
  expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200]))
  expect((await stream()).status).toBe(503)
  emitRuns(bridge, 1)
  const texts = await Promise.all(pages.map(async ({ body }) => readUntil(body!, 'step(1)')))
  expect(texts).toHaveLength(100)
  await pages[0]!.body!.cancel().catch(() => {})
})

async function readUntil(body: ReadableStream<Uint8Array>, wanted: string): Promise<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (!text.includes(wanted)) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`The stream ended without ${wanted}`)
    text += decoder.decode(value)
  }
  reader.releaseLock()
  return text
}
