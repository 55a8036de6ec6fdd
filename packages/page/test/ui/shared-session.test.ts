// @module-tag whole: it needs a browser
// This file verifies that the user can run cells in a conversation's session, that both sides see them, and that the
// conversation is notified.
import { describe, expect, it } from 'vitest'
import { goTo, openPage } from '../support/browser-page.ts'
import { openObserved } from '@sandbridge/core/test/support/bridges/observed-bridge.ts'
import { Notebook } from '../../src/views/notebook.ts'

async function openShared() {
  const observed = await openObserved()
  await observed.run('x = 41')
  const notebook = new Notebook(observed.bridge)
  const session = observed.of('cell.started')[0]!.session!
  const text = async (code: string): Promise<string> => JSON.stringify((await observed.run(code)).content)
  return { ...observed, notebook, session, text }
}

describe('a cell of the user in the session of a conversation', () => {
  it('a cell of the user in the session of a conversation uses its variables, and is reported once, without its output', async () => {
    const { notebook, session, text } = await openShared()
    const { cell, status } = await notebook.run('x += 1\nprint("only for the user")', session)
    expect([cell, status]).toEqual([2, 'ok'])
    const told = await text('x')
    expect(told).toContain('42')
    expect(told).toContain('The user ran cell 2 in this session')
    expect(told).not.toContain('only for the user')
    expect(await text('x')).not.toContain('The user ran')
  })

  it('several cells of the user in the session of a conversation are reported in one sentence', async () => {
    const { notebook, session, text } = await openShared()
    for (const code of ['a = 1', 'b = 2', 'c = 3']) await notebook.run(code, session)
    expect(await text('a + b + c')).toContain('The user ran 3 cells in this session, 2 to 4')
  })

  it('a cell of the user leaves the notices of a session for its conversation', async () => {
    const { notebook, session, text } = await openShared()
    const lost = await notebook.run('import os; os.abort()', session)
    expect(lost.status).toBe('killed')
    const told = await text('x')
    expect(told).toContain('A cell of the user ended the sandbox')
    expect(told).toContain('NameError')
  })

  it('a cell of the user completes names in the session of a conversation and in one of its own', async () => {
    const { notebook, session } = await openShared()
    await notebook.run('own_name = 1')
    await notebook.run('shared_name = 1', session)
    expect((await notebook.complete('own_na')).words).toEqual(['own_name'])
    expect((await notebook.complete('own_na', session)).words).toEqual([])
    expect((await notebook.complete('shared_na', session)).words).toEqual(['shared_name'])
  })

  it('a cell of the user is refused in a session that is over', async () => {
    const { notebook } = await openShared()
    await expect(notebook.run('1', 'ffffffffffffffff')).rejects.toThrow('This session has ended')
  })
})

it('a conversation is chosen from a list, and both sides see all cells (needs Chromium)', async () => {
  const { page, run, problems } = await openPage()
  await run('total = 41')
  await goTo(page, 'Cells')
  await page.locator('.cm-focused').waitFor()
  await page.getByRole('combobox', { name: 'Session' }).selectOption({ label: 'observer: 1 cell' })
  await page.getByRole('article', { name: 'Cell 1' }).getByText('total = 41').waitFor()
  await page.locator('.editor').click()
  await page.locator('.cm-focused').waitFor()
  await page.keyboard.type('tota')
  await page.keyboard.press('Control+Space')
  await page.getByRole('option', { name: 'total' }).click()
  await page.keyboard.type(' + 1')
  await page.keyboard.press('Control+Enter')
  const mine = page.getByRole('article', { name: 'Cell 2' })
  await mine.getByText('done', { exact: true }).waitFor()
  expect(await mine.locator('.value').innerText()).toContain('42')
  expect(JSON.stringify((await run('total')).content)).toContain('The user ran cell 2 in this session')
  await page.getByRole('article', { name: 'Cell 3' }).getByText('done', { exact: true }).waitFor()
  await goTo(page, 'Now')
  const sessions = page.getByRole('region', { name: 'Session of observer' })
  await sessions.first().waitFor()
  expect(await sessions.count()).toBe(1)
  expect(problems).toEqual([])
})
