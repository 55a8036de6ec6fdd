// @module-tag whole: it needs a browser
// This file verifies what the page's views show and do, in a real Chromium with a real bridge.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { listingTokens } from '../../../core/src/calls/catalog/arguments/listing-tokens.ts'
import { RUN_PYTHON_TOOL } from '../../../core/src/serve/mcp/tool/run-python-tool.ts'
import { estimateTokens } from '../../../core/src/util/tokens/estimate-tokens.ts'
import { addDailyCosts } from '@sandbridge/record/costs/daily-costs.ts'
import { published } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { goTo, openPage } from '../support/browser-page.ts'
import { needsLinux } from '@sandbridge/core/test/support/suite/needs.ts'
import { protectedServer } from '@sandbridge/core/test/support/servers/protected-server.ts'

const everything = { everything: published.everything() }

it('the page shows a cell as it runs: code, output, calls, value', async () => {
  const { page, run, problems } = await openPage({ servers: everything })
  await page.getByText('Nothing has run yet').waitFor()
  const done = run(
    'import time\nprint("first line")\ntotal = await mcp_everything.get_sum(a=20, b=22)\ntime.sleep(1)\ntotal',
  )
  await page.getByText('first line', { exact: true }).waitFor()
  await page.getByText('running', { exact: true }).waitFor()
  await done
  const cell = page.getByRole('article', { name: 'Cell 1' })
  await cell.getByText('done', { exact: true }).waitFor()
  expect(await cell.getByRole('group', { name: 'Code' }).innerText()).toContain('mcp_everything.get_sum')
  expect(await cell.locator('.tok-keyword').first().innerText()).toBe('import')
  await cell.getByRole('button', { name: 'get-sum' }).click()
  expect(await cell.locator('.call-details').innerText()).toContain('"a":20')
  expect(await cell.locator('.value').innerText()).toContain('42')
  expect(problems).toEqual([])
})

it('the page shows what has come before its parts listen', async () => {
  const { browser, service } = await openPage()
  const context = await browser.newContext()
  // A machine on which everything between two frames is late.
  await context.addInitScript('const soon = setTimeout; setTimeout = (then, ms = 0) => soon(then, ms + 3_000)')
  const page = await context.newPage()
  await page.goto(service.newLink())
  await page.getByText('live', { exact: true }).waitFor()
})

it('the page says why a sign-in failed, and has no link to it once it has ended', async () => {
  const server = await protectedServer()
  const { page, problems } = await openPage({ servers: { r: { url: server.url } } })
  await goTo(page, 'Servers')
  await page.getByRole('link', { name: /^r/ }).click()
  const link = page.getByRole('link', { name: /Sign in at/ })
  /** Opens the link as a user would, whose browser follows every redirect. */
  const signIn = async () => {
    await page.getByRole('button', { name: 'Sign in' }).click()
    await fetch((await link.getAttribute('href'))!)
  }
  const said = page.locator('.details [role=alert]')
  server.twist.error = 'access_denied'
  await signIn()
  await said.getByText(/access_denied/).waitFor()
  expect(await link.count()).toBe(0)
  delete server.twist.error
  server.twist.steps = { refresh: () => 500, client: () => 500, code: () => 500 }
  await signIn()
  await said.getByText(/500/).waitFor()
  expect(await link.count()).toBe(0)
  delete server.twist.steps
  await signIn()
  await link.waitFor({ state: 'detached' })
  await page.getByText('signed in, just now').waitFor()
  expect(await said.count()).toBe(0)
  expect(problems).toEqual([])
})

it('the page interrupts a cell', async () => {
  const { page, run, problems } = await openPage()
  const done = run('print("on")\nwhile True: pass')
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('interrupted', { exact: true }).waitFor()
  const { content } = await done
  expect(JSON.stringify(content)).toMatch(/interrupt/i)
  expect(problems).toEqual([])
})

it('the page shows the memory and the processor time of a sandbox while it is open', async () => {
  needsLinux('elsewhere what a sandbox uses is not measured')
  const { page, bridge, run, problems } = await openPage()
  const asked = vi.spyOn(bridge.sessions, 'usage')
  await goTo(page, 'Cost')
  await run('sum(range(3_000_000))')
  expect(asked).not.toHaveBeenCalled()
  await goTo(page, 'Now')
  const usage = page.locator('h2 .muted', { hasText: /sandbox: [^,]+, [\d.]+ MiB, / }).first()
  const [, mebibytes] = /([\d.]+) MiB/.exec(await usage.innerText()) ?? []
  expect(Number(mebibytes)).toBeGreaterThan(20)
  expect(Number(mebibytes)).toBeLessThan(2_000)
  expect(problems).toEqual([])
})

it('the page shows pictures', async () => {
  const { page, run, problems } = await openPage()
  const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  await run(`import base64\nclass P:\n  def _repr_png_(self): return base64.b64decode("${dot}")\nP()`)
  await page.locator('.output img').waitFor()
  expect(await page.locator('.output img').evaluate((image) => (image as { naturalWidth?: number }).naturalWidth)).toBe(
    1,
  )
  expect(problems).toEqual([])
})

it('the page lists servers, with tools and what they cost, and starts one', async () => {
  const { page, opened, problems } = await openPage({
    servers: { ...everything, broken: { command: 'no-such-program-at-all' } },
  })
  await goTo(page, 'Servers')
  await page.getByRole('link', { name: /everything/ }).click()
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByText('await mcp_everything.echo(').waitFor()
  await page.getByRole('button', { name: 'Restart' }).waitFor()
  const facts = await page.locator('.facts').innerText()
  expect(facts).toMatch(/about [\d,]+ tokens/)
  expect(facts).toMatch(/Last start\s+took [\d.]+ m?s, runs since \d\d:\d\d:\d\d/)
  expect(await page.getByRole('link', { name: /everything/ }).innerText()).toMatch(/started in [\d.]+ m?s/)
  await opened.upstreams.of('everything').stop()
  await page.getByText(/took [\d.]+ m?s, ran from \d\d:\d\d:\d\d/).waitFor()
  await page.getByRole('link', { name: /broken/ }).click()
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByText('It failed').waitFor()
  expect(problems).toEqual([])
})

it('the page shows what conversations cost by day, and what listing the tools directly would have cost', async () => {
  const { page, bridge, opened, run, problems } = await openPage({
    servers: everything,
    env: { MCP_BRIDGE_AUDIT: 'shape' },
  })
  await goTo(page, 'Cost')
  await page.getByText('No client has run anything yet').waitFor()
  const yesterday = new Date(Date.now() - 24 * 60 * 60_000).toISOString().slice(0, 10)
  await addDailyCosts(
    bridge.stores.of(undefined),
    new Map([[yesterday, { conversations: 3, returned: 2_500, called: 5_000, listed: 9_000 }]]),
  )
  await opened.catalog.index(['everything'])
  const listed = listingTokens(opened.catalog.details('everything').tools)
  expect(listed).toBeGreaterThan(500)
  await run('print("one two three")')
  await run('print("four")')
  await page.getByRole('row', { name: new RegExp(`^${new Date().toISOString().slice(0, 10)} 1 `) }).waitFor()
  const rows = await page.getByRole('table').first().locator('tbody tr').allInnerTexts()
  const cells = rows.map((row) => row.split('\t').map((text) => text.trim()))
  const own = estimateTokens(JSON.stringify(RUN_PYTHON_TOOL))
  expect(cells[0]![3]).toBe(listed.toLocaleString('en'))
  expect(Number(cells[0]![2])).toBeGreaterThan(own)
  // What results of calls would have cost counts as well: it is what stayed in the sandbox.
  expect(cells[1]).toEqual([yesterday, '3', (2_500 + 3 * own).toLocaleString('en'), '14,000'])
  expect(await page.locator('.figure').nth(1).innerText()).toContain(((14_000 + listed) / 1_000).toFixed(1))
  await page.getByText('It counts once a day').waitFor()
  expect(problems).toEqual([])
})

it('the page shows settings with their source, and no secret', async () => {
  const { page, bridge, problems } = await openPage()
  const file = path.join(bridge.settings.stateDir, 'settings.json')
  writeFileSync(file, '{"output": {"tokens": 777}, "http": {"token": "hunter2-hunter2-hunter2"}}')
  await goTo(page, 'Settings')
  await page.getByRole('row', { name: `output.tokens 777 ${file}:1:13` }).waitFor()
  await page.getByRole('row', { name: 'http.token (set, not shown)' }).waitFor()
  await page.getByRole('row', { name: 'cells.timeout 30 default' }).waitFor()
  expect(await page.content()).not.toContain('hunter2')
  writeFileSync(file, '{"output": {"tokns": 777}}')
  await goTo(page, 'Now')
  await goTo(page, 'Settings')
  await page.getByText('output.tokns: is not a setting. Did you mean tokens?').waitFor()
  expect(problems.filter((one) => !one.includes('400'))).toEqual([])
})

it('the page finds tools, says why, and calls one from a form', async () => {
  const { page, opened, problems } = await openPage({ servers: everything })
  await opened.catalog.index(['everything'])
  await goTo(page, 'Find')
  await page.getByRole('searchbox').fill('add two numbers')
  const best = page.locator('.hit').first()
  await best.getByText('everything.get_sum', { exact: true }).waitFor()
  expect(await best.locator('.why').innerText()).toMatch(/words [\d.]+ \+ meaning/)
  await best.getByRole('button', { name: 'Try it' }).click()
  await best.getByRole('button', { name: 'Call' }).click()
  await best.getByText('a is missing').waitFor()
  await best.getByLabel(/^a /).fill('20')
  await best.getByLabel(/^b /).fill('22')
  expect(await best.getByRole('group', { name: 'The cell' }).innerText()).toBe(
    'await mcp_everything.get_sum(a=20, b=22)',
  )
  await best.getByRole('button', { name: 'Call' }).click()
  expect(await best.locator('.cell .value').innerText()).toContain('42')
  expect(problems).toEqual([])
})

it('the page runs cells of its own, and completes names', async () => {
  const { page, of, problems } = await openPage()
  await goTo(page, 'Cells')
  await page.locator('.cm-focused').waitFor()
  await page.keyboard.type('answer = 42')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('article', { name: 'Cell 1' }).getByText('done').waitFor()
  await page.keyboard.type('answ')
  await page.keyboard.press('Control+Space')
  await page.getByRole('option', { name: 'answer' }).click()
  await page.keyboard.type(' + x')
  await page.keyboard.press('Shift+Enter')
  await page.getByText("name 'x' is not defined").first().waitFor()
  // Completions are not cells.
  expect(of('cell.started').map(({ number }) => number)).toEqual([1, 2])
  await page.getByRole('article', { name: 'Cell 2' }).waitFor()
  expect(problems).toEqual([])
})

it('the page shows what cells have kept', async () => {
  const { page, run, problems } = await openPage()
  await run('await runtime.save_artifact("report.csv", "a,b\\n1,2\\n")')
  await goTo(page, 'Kept')
  await page.getByRole('link', { name: /report\.csv/ }).click()
  await page.getByText('a,b').waitFor()
  expect(problems).toEqual([])
})

it('the page says that it shows the beginning of a long file', async () => {
  const { page, run, problems } = await openPage()
  await run('await runtime.save_artifact("long.txt", "beginning: " + "é" * 100_000)')
  await goTo(page, 'Kept')
  await page.getByRole('link', { name: /long\.txt/ }).click()
  await page.getByText(/The first 64.0 KiB of 195.3 KiB./).waitFor()
  expect(await page.locator('.details').innerText()).not.toContain('\uFFFD')
  expect(problems).toEqual([])
})

it('the page opens where its address is damaged', async () => {
  const { page, problems } = await openPage({ servers: everything })
  await page.evaluate("location.hash = '#/servers/%'")
  await page.getByRole('heading', { name: 'Servers' }).waitFor()
  await page.reload()
  await page.getByRole('link', { name: /everything/ }).waitFor()
  expect(problems.filter((one) => !one.includes('404'))).toEqual([])
})

it('the page shows a page of HTML that a cell saved as text, and does not run it', async () => {
  const { page, run, problems } = await openPage()
  await run('runtime.show_app("<b id=app>bold</b><script>document.title = \\"mine\\"</script>")')
  await goTo(page, 'Kept')
  await page.getByRole('link', { name: /app-1\.html/ }).click()
  await page.getByText('<b id=app>').waitFor()
  expect([await page.title(), await page.locator('#app').count(), await page.locator('iframe').count()]).toEqual([
    expect.not.stringContaining('mine'),
    0,
    0,
  ])
  expect(problems).toEqual([])
})

it('the page shows every version of what is kept, and workflows with their parameters and calls', async () => {
  const { page, run, problems } = await openPage({ servers: everything })
  await run(
    [
      'runtime.save_artifact("report.csv", "first\\n")',
      'runtime.save_artifact("report.csv", "second\\n")',
      'def double(n: int) -> int:\n    "Twice as much."\n    return 2 * n',
      'runtime.save_tool(double)',
      'def double(n: int) -> int:\n    "Twice as much."\n    return n + n',
      'runtime.save_tool(double)',
      'async def weekly_report(week: int, dry: bool = False):\n    "Adds up a week."\n    return await mcp_everything.get_sum(a=week, b=1)',
      'runtime.save_workflow("weekly-report", weekly_report)',
    ].join('\n'),
  )
  await goTo(page, 'Kept')
  await page.getByText('1 file · 1 saved tool · 1 workflow').waitFor()
  await page.getByRole('link', { name: /report\.csv/ }).click()
  await page.getByText('second').waitFor()
  await page.getByRole('combobox', { name: 'Version' }).selectOption('1')
  await page.getByText('first').waitFor()
  await page.getByRole('link', { name: /double/ }).click()
  const source = page.getByRole('group', { name: 'Source' })
  await source.getByText('return n + n').waitFor()
  await page.getByRole('combobox', { name: 'Version' }).selectOption('1')
  await source.getByText('return 2 * n').waitFor()
  await page.getByRole('link', { name: /weekly-report/ }).click()
  await source.getByText('async def weekly_report').waitFor()
  const details = await page.getByRole('region', { name: 'weekly_report' }).innerText()
  expect(details).toContain('week: int, dry: bool = false')
  expect(details).toContain('everything.get-sum')
  expect(details).toContain('Adds up a week.')
  expect(problems).toEqual([])
})
