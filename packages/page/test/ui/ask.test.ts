// This file verifies that the page shows and answers questions about calls: completely, once, only with access, and
// only the one that was shown.
import { existsSync, readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { AskView } from '../../src/views/ask.ts'
import { servePage } from '../../src/serve-page.ts'
import { goTo, openPage } from '../support/browser-page.ts'
import { fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { sharedObserved } from '@sandbridge/core/test/support/bridges/observed-bridge.ts'
import { caught } from '@sandbridge/core/test/support/bridges/ruled-bridge.ts'
import { tellers } from '@sandbridge/core/test/support/bridges/telling-bridge.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** A server with a tool that asks, and the calls that reached it. */
function ruledServer() {
  const folder = newFolder()
  const journal = path.join(folder, 'journal')
  const hub = { ...fixtureServer('ruled.mjs', journal), permissions: { ask: ['create_issue'] } }
  const reached = () => (existsSync(journal) ? readFileSync(journal, 'utf8').trim().split('\n') : [])
  return { servers: { hub }, reached }
}

const call = (id: number) => caught(`i = ${id}; await mcp_hub.create_issue(title="Fix it", id=i, owner="acme")`)

/** Questions of one bridge are told apart by the ids of their calls. */
const api = ruledServer()
const observed = sharedObserved({ servers: api.servers })

async function openApi() {
  const service = await servePage(observed().bridge, 0)
  onTestFinished(() => service.close())
  const before = api.reached().length
  const reached = () => api.reached().slice(before)
  const link = new URL(service.newLink())
  const opened = await fetch(link, { method: 'POST', headers: { origin: link.origin } })
  const pass = {
    cookie: opened.headers.get('set-cookie')!.split(';')[0]!,
    'x-sandbridge-key': /#key=([\w-]+)/.exec(await opened.text())![1]!,
  }
  const send = (name: string, headers: Record<string, string>, body?: unknown) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST'
      const address = { host: '127.0.0.1', port: link.port, path: `/ui/api/${name}` }
      const sent = httpRequest({ ...address, method, headers }, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => resolve({ status: response.statusCode!, text }))
      })
      sent.on('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  const run = async (code: string) => JSON.stringify((await observed().run(code)).content)
  const asked = async (id: number) => {
    const { questions } = JSON.parse((await send('questions', pass)).text) as AskView
    return questions.find(({ text }) => new RegExp(`\\bid"?: ${id}\\b`).test(text))!
  }
  const answer = (body: unknown, headers: Record<string, string> = pass) => send('question/answer', headers, body)
  return { service, origin: link.origin, pass, run, asked, answer, reached }
}

it('the view Ask shows a question whole, and after a yes the same code runs once', async () => {
  const { servers, reached } = ruledServer()
  const { page, run, problems } = await openPage({ servers })
  await goTo(page, 'Ask')
  await page.getByText('No call waits for an answer').waitFor()
  await goTo(page, 'Now')
  const text = async (id: number) => JSON.stringify((await run(call(id))).content)
  expect(await text(7)).toContain('denied')
  await page.getByRole('link', { name: 'Ask 1', exact: true }).click()
  const question = page.getByRole('article')
  await question.getByText('hub.create_issue').first().waitFor()
  expect(await question.getByRole('group', { name: 'Arguments' }).innerText()).toBe(
    'owner: "acme"\ntitle: "Fix it"\nid: 7',
  )
  expect(await question.innerText()).toMatch(/Asked because of the rule ask "create_issue"/)
  // It follows what is shown.
  await expect.poll(() => page.title()).toBe('(1) Ask · Sandbridge')
  await question.getByRole('button', { name: 'yes, this once' }).focus()
  await page.keyboard.press('Enter')
  await question.getByText('Answered: yes, this once.').waitFor()
  expect(await page.evaluate('document.activeElement.textContent')).toContain('Answered: yes, this once.')
  await page.getByRole('link', { name: 'Ask', exact: true }).waitFor()
  expect(await text(8)).toContain('denied')
  expect(reached()).toEqual([])
  expect(await text(7)).toContain('called')
  expect(reached()).toEqual(['["create_issue",{"title":"Fix it","id":7,"owner":"acme"}]'])
  expect(await text(7)).toContain('denied')
  expect(problems).toEqual([])
})

const EFFECTS = {
  no: 'the user said no',
  'no, and stop the code': 'stopped the cell',
  'yes, this tool for the session': 'called',
  'yes, this tool always': 'called',
}
const ANSWERS = Object.entries(EFFECTS)

it.each([[ANSWERS.slice(0, 3)], [ANSWERS.slice(3)]])('the view Ask takes answers, in turn: %j', async (answers) => {
  const { servers, reached } = ruledServer()
  const { page, run, home } = await openPage({ servers })
  const text = async (id: number) => JSON.stringify((await run(call(id))).content)
  await goTo(page, 'Ask')
  for (const [id, [words, expected]] of answers.entries()) {
    await run(call(id))
    await page.getByRole('button', { name: words, exact: true }).click()
    await page.getByText(`Answered: ${words}.`).waitFor()
    expect(reached()).toEqual([])
    expect(await text(id)).toContain(expected)
  }
  for (const id of [8, 9]) await run(call(id))
  expect(reached()).toHaveLength(3)
  expect(existsSync(path.join(home, 'MCPs/permissions.json'))).toBe(answers.length === 1)
})

it('the view Ask offers to trust the text of a server where only what the model has read asks', async () => {
  const folder = newFolder()
  const note = 'Remember to water the plants on every second Tuesday and to feed the cat.'
  const servers = tellers(folder, { notes: { note, to: 'ann@acme.example' }, files: {} })
  const { page, run, home } = await openPage({ servers, env: { MCP_BRIDGE_FLOW: 'ask' } })
  const send = async (to: string) => JSON.stringify((await run(caught(`await mcp_files.send(to=${to})`))).content)
  const trust = 'yes, and always trust what notes says'
  await run('print(await mcp_notes.get(name="note"))')
  // A destination of the server is no matter of trust.
  expect(await send('await mcp_notes.get(name="to")')).toContain('denied')
  await goTo(page, 'Ask')
  const cards = page.getByRole('article')
  await cards.getByRole('button', { name: 'yes, this once' }).waitFor()
  expect(await cards.getByRole('button', { name: trust }).count()).toBe(0)
  await cards.getByRole('button', { name: 'no', exact: true }).click()
  await cards.getByText('Answered: no.').waitFor()
  expect(await send('"bob@acme.example"')).toContain('denied')
  const card = cards.filter({ hasText: 'Trusting what notes says means: no question because of its text any more' })
  await card.getByRole('button', { name: trust }).click()
  await card.getByText(`Answered: ${trust}.`).waitFor()
  for (let times = 0; times < 2; times += 1) expect(await send('"bob@acme.example"')).toContain('called')
  expect(readFileSync(path.join(home, 'MCPs/permissions.json'), 'utf8')).toMatch(/"trust"[^]*"server": "notes"/)
})

it('the view Ask keeps a card in its place when others come and go', async () => {
  const { servers } = ruledServer()
  const { page, run } = await openPage({ servers })
  await goTo(page, 'Ask')
  const cards = page.getByRole('article')
  for (const id of [1, 2, 3]) {
    await run(call(id))
    await cards.nth(id - 1).waitFor()
  }
  await cards.nth(1).getByRole('button', { name: 'no', exact: true }).click()
  await cards.nth(1).getByText('Answered: no.').waitFor()
  await page.getByRole('link', { name: 'Ask 2', exact: true }).waitFor()
  const shown = await page.getByRole('group', { name: 'Arguments' }).allInnerTexts()
  expect(shown.map((text) => text.at(-1))).toEqual(['1', '2', '3'])
})

it('a question in a cell of the page fits on a phone (needs Chromium)', async () => {
  const { page } = await openPage({ servers: ruledServer().servers, width: 360 })
  await goTo(page, 'Cells')
  await page.locator('.cm-content').click()
  await page.keyboard.insertText(
    'await mcp_hub.create_issue(title="z" * 3000 + " and " + "x y " * 20, id=1, owner="acme")',
  )
  await page.keyboard.press('Control+Enter')
  await page.getByRole('button', { name: 'yes, this once' }).waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
})

it('an answer from the page needs the cookie, the key and the origin of the page', async () => {
  const { run, asked, answer, pass, reached } = await openApi()
  await run(call(1))
  const question = await asked(1)
  const yes = { ...question, answer: 'yes' }
  const other = (await openApi()).pass
  const { cookie } = pass
  for (const headers of [
    {},
    { cookie },
    { 'x-sandbridge-key': pass['x-sandbridge-key'] },
    { cookie, 'x-sandbridge-key': other['x-sandbridge-key'] },
    other,
    { ...pass, cookie: cookie.replace(/\.\d+\./, '.1.') },
  ])
    expect((await answer(yes, headers as Record<string, string>)).status).toBe(401)
  for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1'])
    expect((await answer(yes, { ...pass, origin })).status).toBe(403)
  expect((await answer(yes, { ...pass, host: 'evil.example' })).status).toBe(403)
  expect(await run(call(1))).toContain('denied')
  expect(reached()).toEqual([])
  expect((await answer(yes)).status).toBe(200)
  expect(await run(call(1))).toContain('called')
})

it('an answer from the page counts for the question that was shown, and for no other', async () => {
  const { run, asked, answer, reached } = await openApi()
  await run(call(11))
  const first = await asked(11)
  await run(call(12))
  const second = await asked(12)
  // The answer to one question, sent for the other, and with another text than the bridge's.
  for (const changed of [
    { ...first, id: second.id },
    { ...second, text: first.text },
    { ...second, asking: first.asking },
    { ...first, text: first.text.replace('acme', 'evil') },
    { ...first, id: '../questions/x' },
  ])
    expect((await answer({ ...changed, answer: 'yes' })).status).toBe(400)
  expect((await answer({ ...first, answer: 'maybe' })).status).toBe(400)
  expect(await run(call(12))).toContain('denied')
  expect((await answer({ ...second, answer: 'yes' })).status).toBe(200)
  expect(await run(call(12))).toContain('called')
  expect(reached()).toHaveLength(1)
})

it('an answer from the page counts once: sent again, it does not answer the same question asked anew', async () => {
  const { run, asked, answer, reached } = await openApi()
  await run(call(21))
  const question = await asked(21)
  const yes = { ...question, answer: 'yes' }
  expect((await answer(yes)).status).toBe(200)
  expect((await answer({ ...yes, answer: 'no' })).status).toBe(400)
  expect(await run(call(21))).toContain('called')
  expect(await run(call(21))).toContain('denied')
  expect((await answer(yes)).status).toBe(400)
  expect(await run(call(21))).toContain('denied')
  expect(reached()).toHaveLength(1)
  const again = await asked(21)
  expect(again.id).toBe(question.id)
  expect((await answer({ ...again, answer: 'yes' })).status).toBe(200)
  expect(await run(call(21))).toContain('called')
})

it('the error of a denied call names the page while it is served, and gives no link that opens it', async () => {
  const { run, service, origin } = await openApi()
  const text = await run(call(31))
  expect(text).toContain(`answer at ${origin}/ui/#/ask, or to run \`sandbridge approve\``)
  expect(text).not.toContain('/open/')
  service.close()
  const after = await run(call(32))
  expect(after).toContain('sandbridge approve')
  expect(after).not.toContain('/ui/')
})
