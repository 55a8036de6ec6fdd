// @module-tag whole: it needs a browser
// This file verifies that the page shows the record of all bridges and days, and that a run can be used again if its
// code is in memory.
import { devNull } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { recordIn } from '@sandbridge/record/audit/other-files.ts'
import { readRecord } from '@sandbridge/record/audit/read-record.ts'
import { readRuns } from '@sandbridge/record/audit/read-runs.ts'
import { fixtureServer, openTestBridge, published } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { goTo, openPage, type OpenPage } from '../support/browser-page.ts'
import { writeOldRecord } from '@sandbridge/record/test/support/old-record.ts'

const AUDIT = { MCP_BRIDGE_AUDIT: 'shape' }
const RUNS = 10_000
const DAY_MS = 24 * 60 * 60_000

/** Runs of a bridge that has ended, one every ten seconds up to two days ago. */
function writeOldRuns(stateDir: string, count: number): Promise<void> {
  const end = Date.now() - 2 * DAY_MS
  const lines = Array.from({ length: count }, (_, index) => ({
    time: new Date(end - (count - index) * 10_000).toISOString(),
    type: 'run',
    id: `old-${index + 1}`,
    run: `run-${index + 1}`,
    session: 'long-ago',
    client: `client ${index + 1}`,
    number: index + 1,
    status: 'ok',
    codeHash: 'f'.repeat(64),
    durationMs: 4,
  }))
  return writeOldRecord(path.join(stateDir, '.sandbridge/audit'), lines)
}

async function recorded({ bridge }: Pick<OpenPage, 'bridge'>, count: number): Promise<void> {
  const logs = recordIn(bridge.stores.of(undefined))
  while ((await readRuns(logs, {}, { limit: count })).runs.length < count) await sleep(20)
}

it('the view Record has ten thousand runs of other days, of which it draws what fits, and new ones as they happen', async () => {
  const { page, bridge, run, problems } = await openPage({ env: AUDIT })
  await writeOldRuns(bridge.settings.stateDir, RUNS)
  await goTo(page, 'Record')
  await page.getByText(`client ${RUNS}: no call`).waitFor()
  const rows = page.locator('.row')
  expect(await rows.count()).toBeLessThan(60)
  await run('fresh = "live"')
  await page.getByText('fresh = "live"', { exact: true }).waitFor()
  expect(await rows.first().innerText()).toContain('fresh')
  const toEnd = () => page.locator('.virtual').evaluate((box) => ((box as { scrollTop?: number }).scrollTop = 1e9))
  while (!(await page.getByText('client 1: no call', { exact: true }).isVisible())) {
    await toEnd()
    await sleep(50)
  }
  await page.getByText(`${(RUNS + 1).toLocaleString('en')} runs`, { exact: true }).waitFor()
  expect(await rows.count()).toBeLessThan(60)
  await page.getByRole('combobox', { name: 'Time' }).selectOption('the last 24 hours')
  await page.getByText('1 run', { exact: true }).waitFor()
  expect(problems).toEqual([])
})

it('the view Record opens a run of a bridge that has ended, with all its calls, and says what was not recorded', async () => {
  const servers = { everything: published.everything(), hub: fixtureServer('ruled.mjs', devNull) }
  const opened = await openPage({ env: AUDIT, servers })
  const { page, home, problems } = opened
  const other = await openTestBridge({ home, env: { MCP_BRIDGE_POOL: '0', MCP_BRIDGE_SOURCES: 'mcps' } })
  await other.run('for n in range(3): await mcp_everything.get_sum(a=n, b=1)')
  const [create, leave] = ['await mcp_hub.create_issue(owner="acme")', new AbortController()]
  const lost = other.call({ code: `${create}\nimport time; time.sleep(60)` }, { signal: leave.signal })
  const calls = async () => (await readRecord(recordIn(opened.bridge.stores.of(undefined)), {}, 9)).length
  while ((await calls()) < 5) await sleep(20)
  leave.abort()
  await lost.catch(() => undefined)
  await other.run(create)
  await other.client.close()
  await recorded(opened, 3)
  await goTo(page, 'Record')
  await page.getByText('inspector-cli: 1 call of hub', { exact: true }).first().click()
  await page.getByRole('button', { name: 'create_issue' }).getByText('answer used again').waitFor()
  await page.getByText('inspector-cli: 3 calls of everything', { exact: true }).click()
  const run = page.getByRole('article', { name: 'Recorded run' })
  await run.getByRole('button', { name: 'get-sum' }).nth(2).waitFor()
  await run.getByRole('button', { name: 'get-sum' }).first().click()
  expect(await run.locator('.call-details').innerText()).toContain('{a: number, b: number}')
  await run.getByText('The audit log keeps a hash of the code, not the code').waitFor()
  expect(await run.getByText(/^[0-9a-f]{64}$/).count()).toBe(1)
  expect(await page.getByRole('button', { name: 'Copy as a cell' }).count()).toBe(0)
  await goTo(page, 'Now')
  await page.getByText('Nothing is running').waitFor()
  expect(problems).toEqual([])
})

it('the view Record is filtered by server, denial, state, session and words', async () => {
  const hub = { ...fixtureServer('ruled.mjs', devNull), permissions: { deny: ['create_issue'] } }
  const opened = await openPage({ env: AUDIT, servers: { hub, everything: published.everything() } })
  const { page, run, problems } = opened
  await run('await mcp_everything.echo(message="hello")')
  await run('try: await mcp_hub.create_issue(owner="acme", title="x")\nexcept Exception: print("no")')
  await run('1/0')
  await recorded(opened, 3)
  await goTo(page, 'Record')
  const count = (text: string) => page.getByRole('status').getByText(text, { exact: true }).waitFor()
  await count('3 runs')
  await page.getByRole('combobox', { name: 'Server' }).selectOption('everything')
  await count('1 run')
  await page.getByText('mcp_everything.echo').waitFor()
  await page.getByRole('combobox', { name: 'Server' }).selectOption('every server')
  await page.getByRole('checkbox', { name: 'denied only' }).check()
  await count('1 run')
  await page.getByText('try: await mcp_hub').first().click()
  await page.getByRole('button', { name: 'create_issue' }).getByText('denied').waitFor()
  await page.getByRole('checkbox', { name: 'denied only' }).uncheck()
  await page.getByRole('combobox', { name: 'State' }).selectOption('error')
  await count('1 run')
  await page.getByRole('combobox', { name: 'State' }).selectOption('every state')
  await page.getByRole('searchbox').fill('echo HELLO')
  await count('1 run')
  await page.getByRole('searchbox').fill('')
  await page.getByRole('button', { name: 'Only this session' }).click()
  await page.getByRole('button', { name: 'show all sessions' }).click()
  await count('3 runs')
  expect(problems).toEqual([])
})

it('the view Record copies a cell that the page still has', async () => {
  const opened = await openPage({ env: AUDIT, servers: { everything: published.everything() } })
  const { page, run, problems } = opened
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const code = '# Adds two numbers\ntext = """first\nsecond"""\nawait mcp_everything.get_sum(a=20, b=22)'
  await run(code)
  await goTo(page, 'Record')
  // By keyboard: from the list into the run and to its buttons.
  await page.locator('.run').first().focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Copy as a cell' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(code)
  expect(problems).toEqual([])
})

it('the view Record shows the code of a run that only the record has', async () => {
  const opened = await openPage({ env: AUDIT })
  const { page, home, problems } = opened
  const env = { MCP_BRIDGE_AUDIT: 'replay', MCP_BRIDGE_POOL: '0', MCP_BRIDGE_SOURCES: 'mcps' }
  const other = await openTestBridge({ home, env })
  await other.run('# Counts to three\nlen([1, 2, 3])')
  await other.client.close()
  await recorded(opened, 1)
  await goTo(page, 'Record')
  await page.getByText('# Counts to three', { exact: true }).click()
  await page.getByRole('article', { name: 'Recorded run' }).getByText('len([1, 2, 3])').waitFor()
  expect(problems).toEqual([])
})

it('the view Record has the cells that the page itself has run', async () => {
  const opened = await openPage({ env: AUDIT })
  const { page, problems } = opened
  await goTo(page, 'Cells')
  await page.locator('.cm-focused').waitFor()
  await page.keyboard.type('typed = 1')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('article', { name: 'Cell 1' }).getByText('done').waitFor()
  await recorded(opened, 1)
  const { runs } = await readRuns(recordIn(opened.bridge.stores.of(undefined)), {}, { limit: 5 })
  expect(runs).toMatchObject([{ kind: 'run', client: 'page', status: 'ok' }])
  expect(problems).toEqual([])
})

it('the list of the view Record says what a run was about: its first line and its error', async () => {
  const { page, bridge, run, problems } = await openPage({ env: AUDIT })
  const old = { type: 'run', number: 7, status: 'error', error: { code: 'KeyError' }, durationMs: 1_000 }
  const time = (ms: number) => new Date(Date.now() - DAY_MS + ms).toISOString()
  await writeOldRecord(path.join(bridge.settings.stateDir, '.sandbridge/audit'), [
    { ...old, time: time(0), id: 'a', code: '\nfirst = {}["x"]\n2' },
    { ...old, time: time(5), id: 'b' },
  ])
  await run('# How many\n1/0')
  await goTo(page, 'Record')
  const rows = page.locator('.about')
  await rows.nth(2).waitFor()
  expect((await rows.allInnerTexts()).map((text) => text.split(/\s*\n\s*/))).toEqual([
    ['# How many', 'ZeroDivisionError: division by zero'],
    ['cell 7: no call', 'KeyError'],
    ['first = {}["x"]', 'KeyError'],
  ])
  expect(problems).toEqual([])
})
