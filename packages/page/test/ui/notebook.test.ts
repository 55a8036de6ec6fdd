// @module-tag whole: it needs a browser
// This file verifies questions in the notebook of the page, its landmarks, and that a narrow page reaches every view.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { AxeResults } from 'axe-core'
import { expect, it } from 'vitest'
import { fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { goTo, openPage } from '../support/browser-page.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

function journalFile(): string {
  const folder = newFolder()
  return path.join(folder, 'journal')
}

it('a cell of the notebook shows its question and goes on with the answer (needs Chromium)', async () => {
  const journal = journalFile()
  const hub = { ...fixtureServer('ruled.mjs', journal), permissions: { ask: ['create_issue'], deny: ['delete_repo'] } }
  const { page, problems } = await openPage({ servers: { hub } })
  await goTo(page, 'Cells')
  const runCell = async (code: string) => {
    await page.locator('.cm-content').click()
    await page.keyboard.type(code)
    await page.keyboard.press('Control+Enter')
  }
  await runCell('await mcp_hub.create_issue(owner="acme", title="Fix it")')
  const cell = page.getByRole('article', { name: 'Cell 1' })
  await cell.getByText('title: "Fix it"').waitFor()
  await cell.getByText('running', { exact: true }).waitFor()
  expect(existsSync(journal)).toBe(false)
  await cell.getByRole('button', { name: 'yes, this once' }).click()
  await cell.getByText('done', { exact: true }).waitFor()
  await expect.poll(() => cell.getByRole('button', { name: 'yes, this once' }).count()).toBe(0)
  expect(readFileSync(journal, 'utf8').trim().split('\n')).toHaveLength(1)
  await runCell('await mcp_hub.create_issue(owner="acme", title="Again")')
  const second = page.getByRole('article', { name: 'Cell 2' })
  await second.getByRole('button', { name: 'no', exact: true }).click()
  await second.getByText('the user said no').first().waitFor()
  expect(readFileSync(journal, 'utf8').trim().split('\n')).toHaveLength(1)
  await page.evaluate(readFileSync(AXE, 'utf8'))
  const { violations } = await page.evaluate<AxeResults>('axe.run()')
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`)).toEqual(
    [],
  )
  await goTo(page, 'Servers')
  const row = page.getByRole('link', { name: /hub/ })
  await row.waitFor()
  expect((await row.innerText()).match(/\d+ tools?\b/g)).toHaveLength(1)
  expect(problems).toEqual([])
})

it('a page of 390 pixels shows the tabs of all views (needs Chromium)', async () => {
  const { page, problems } = await openPage({ width: 390 })
  const tabs = page.getByRole('navigation', { name: 'Views' }).getByRole('link')
  expect(await tabs.count()).toBe(9)
  for (const tab of await tabs.all()) {
    const { x, width } = (await tab.boundingBox())!
    expect([x >= 0, x + width <= 390]).toEqual([true, true])
  }
  expect(problems).toEqual([])
})

it('what is typed stays over another view, a reload and a run that could not be sent (needs Chromium)', async () => {
  const { page } = await openPage()
  await goTo(page, 'Cells')
  const typed = page.locator('.cm-content')
  await typed.click()
  await page.keyboard.insertText('kept = 12345')
  await goTo(page, 'Servers')
  await goTo(page, 'Cells')
  await expect.poll(() => typed.innerText()).toBe('kept = 12345')
  await page.reload()
  await expect.poll(() => typed.innerText()).toBe('kept = 12345')
  await page.route('**/notebook/run', (route) => route.abort())
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText('The bridge does not answer').waitFor()
  await expect.poll(() => typed.innerText()).toBe('kept = 12345')
})

it('eight tabs are live at once, a cell runs in the first, and another tab reads when that is closed (needs Chromium)', async () => {
  const { page: first } = await openPage()
  const tabs = [first]
  for (let count = 2; count <= 8; count += 1) {
    const tab = await first.context().newPage()
    await tab.goto(first.url())
    await tab.getByText('live', { exact: true }).waitFor()
    tabs.push(tab)
  }
  const run = async (code: string, shown: string): Promise<void> => {
    const tab = tabs[0]!
    await goTo(tab, 'Cells')
    await tab.locator('.cm-content').click()
    await tab.keyboard.insertText(code)
    await tab.keyboard.press('Control+Enter')
    for (const one of [tab, tabs.at(-1)!]) {
      await goTo(one, 'Cells')
      await one.getByText(shown, { exact: true }).first().waitFor()
    }
  }
  await run('6 * 111', '666')
  await tabs.shift()!.close()
  await run('6 * 112', '672')
})
