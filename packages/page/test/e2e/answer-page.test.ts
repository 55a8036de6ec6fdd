// @module-tag whole: a browser's requests while a cell waits; ui/ask.test.ts has one of each
// This file verifies how a user whose client cannot ask gets a question: by a link in the log, in the browser, or shown
// by the client. The link opens once, and neither the model nor the sandbox ever sees it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { ruledBridge, sharedRuledBridge } from '@sandbridge/core/test/support/bridges/ruled-bridge.ts'

const ask = { ask: ['hub__create_issue'] }
const LINK = /http:\/\/127\.0\.0\.1:\d+\/ui\/open\/[\w-]+\?at=ask/
/** Prints everything about the error that the sandbox can see. */
const call = (id = 1) => `
try:
    i = ${id}; await mcp_hub.create_issue(title="<b>it</b>", id=i)
    print("called")
except runtime.PermissionDenied as error:
    print("denied:", error, vars(error), error.__cause__, error.__context__)`

/** Whether any file below the folder contains the text. */
function holds(folder: string, text: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    const full = path.join(folder, entry.name)
    if (entry.isDirectory()) return holds(full, text)
    return entry.isFile() && readFileSync(full, 'latin1').includes(text)
  })
}

it('the log of a client that cannot ask has a link to the questions, which opens once', async () => {
  const heard: unknown[] = []
  const { bridge, home, reached } = await ruledBridge({
    permissions: ask,
    prepare: (client) =>
      client.setNotificationHandler('notifications/message', ({ params }) => void heard.push(params)),
  })
  await bridge.client.setLoggingLevel('debug')
  const result = await bridge.call({ code: call() })
  expect(result.text).toMatch(
    /denied: .*answer at http:\/\/127\.0\.0\.1:\d+\/ui\/#\/ask, or to run `sandbridge approve`/,
  )
  await until(() => LINK.test(bridge.stderr))
  const link = new URL(LINK.exec(bridge.stderr)![0])
  const word = link.pathname.split('/').at(-1)!
  // A client that subscribed to its runs' log lines is told about the question and gets no link.
  await until(() => JSON.stringify(heard).includes('A call waits for an answer'))
  expect(JSON.stringify(heard)).not.toContain(word)
  expect(JSON.stringify(result)).not.toContain(word)
  expect(JSON.stringify(result)).not.toContain('/open/')
  for (const folder of [path.join(home, 'MCPs'), home].filter(existsSync)) expect(holds(folder, word)).toBe(false)

  const opened = await fetch(link, { method: 'POST', headers: { origin: link.origin } })
  const page = await opened.text()
  expect([opened.status, page]).toEqual([200, expect.stringMatching(/url=\/ui\/#key=[\w-]+&amp;at=ask"/)])
  expect((await fetch(link)).status).toBe(401)
  const headers = {
    cookie: opened.headers.get('set-cookie')!.split(';')[0]!,
    'x-sandbridge-key': /#key=([\w-]+)/.exec(page)![1]!,
  }
  const asked = await fetch(new URL('/ui/api/questions', link), { headers })
  const { questions } = (await asked.json()) as { questions: object[] }
  const body = JSON.stringify({ ...questions[0], answer: 'yes' })
  const answered = await fetch(new URL('/ui/api/question/answer', link), { method: 'POST', headers, body })
  expect(answered.status).toBe(200)
  expect(await bridge.run(call())).toBe('called')
  expect(reached()).toHaveLength(1)
})

it('each question of a client that cannot ask at all has a link in the log that lets in a browser', async () => {
  const { bridge } = await ruledBridge({ permissions: ask })
  for (const id of [1, 2, 3]) expect(await bridge.run(call(id))).toContain('denied')
  await until(() => bridge.stderr.split('/ui/open/').length === 4)
  for (const [link] of bridge.stderr.matchAll(/http:\S+\/ui\/open\/[\w-]+/g))
    expect((await fetch(link)).status).toBe(200)
})

/** Opens the link, like a user. */
async function open(url: string) {
  const opened = await fetch(url)
  const page = await opened.text()
  const [, action = '', form = ''] = /action="([^"]+)".*name="form" value="([\w-]+)"/.exec(page) ?? []
  const send = async (answer: string, headers: Record<string, string> = { origin: new URL(url).origin }) => {
    const body = new URLSearchParams({ form, answer })
    const response = await fetch(new URL(action || '/ui/question', url), { method: 'POST', headers, body })
    return { status: response.status, text: await response.text() }
  }
  return { headers: opened.headers, page, send }
}

/** Opens the link and presses a button. */
async function press(url: string, answer: string) {
  const opened = await open(url)
  return { ...opened, ...(await opened.send(answer)) }
}

type Answer = (url: string, message: string) => Promise<'accept' | 'decline'>

const showsLinks = (answer: Answer) => ({
  capabilities: { elicitation: { url: {} } },
  prepare: (client: Client) =>
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      if (params.mode !== 'url') throw new Error('asked with a form')
      return { action: await answer(params.url, params.message) }
    }),
})

/** What the user does with the next links. */
let next: Answer
const shared = sharedRuledBridge({
  env: { MCP_BRIDGE_ASK_TIMEOUT: '5' },
  ...showsLinks((...asked) => next(...asked)),
})

describe.each(['legacy', 'modern'] as const)('a client of the %s era that shows links', (era) => {
  it(`a client of the ${era} era that shows links shows one to the question, and the call goes on with the answer`, async () => {
    const urls: string[] = []
    const answer: Answer = async (url, message) => {
      urls.push(url)
      expect(message).toContain('to call hub.create_issue\n  title: "<b>it</b>"\n  id: 1')
      const { page, status, text, send } = await press(url, 'yes')
      expect(page).toContain('title: &quot;&lt;b&gt;it&lt;/b&gt;&quot;')
      expect([status, text]).toEqual([200, expect.stringContaining('Answered: yes, this once.')])
      // Neither the link nor its form can be used again.
      expect((await fetch(url)).status).toBe(401)
      expect((await send('yes')).status).toBe(401)
      return 'accept'
    }
    next = answer
    const { bridge, home, reached } =
      era === 'legacy' ? shared(ask) : await ruledBridge({ permissions: ask, era, ...showsLinks(answer) })
    const result = await bridge.call({ code: call() })
    expect(result.text).toBe('called')
    expect(reached()).toHaveLength(1)
    const word = urls[0]!.split('/').at(-1)!
    expect(JSON.stringify(result) + bridge.stderr).not.toContain(word)
    expect(holds(path.join(home, 'MCPs'), word)).toBe(false)
    expect(await bridge.run(call())).toBe('called')
    expect(urls).toHaveLength(2)
  })
})

it.each<[string, RegExp, Answer]>([
  ['is declined', /the user said no/, () => Promise.resolve('decline')],
  ['is answered with no', /the user said no/, async (url) => ((await press(url, 'no')).status, 'accept')],
  ['is never opened', /no answer came within 5 s/, () => Promise.resolve('accept')],
  [
    'is answered with something else',
    /no answer came within 5 s/,
    async (url) => {
      expect((await press(url, 'maybe')).status).toBe(400)
      return 'accept'
    },
  ],
  [
    'is answered from another origin, or from none',
    /the user said no/,
    async (url) => {
      const { send } = await open(url)
      expect((await send('yes', { origin: 'http://evil.example' })).status).toBe(403)
      expect((await send('yes', { origin: 'null' })).status).toBe(403)
      expect((await send('yes', {})).status).toBe(405)
      expect((await send('no')).status).toBe(200)
      return 'accept'
    },
  ],
  [
    'is made up',
    /the user said no/,
    async (url) => {
      const other = url.replace(/[\w-]+$/, 'A'.repeat(32))
      expect((await press(other, 'yes')).status).toBe(401)
      expect((await press(url, 'no')).status).toBe(200)
      return 'accept'
    },
  ],
  [
    'is used for more',
    /the user said no/,
    async (url) => {
      const preview = await fetch(url, { headers: { 'sec-purpose': 'prefetch;prerender' } })
      expect([preview.status, preview.headers.get('set-cookie')]).toEqual([503, null])
      const { headers, send } = await open(url)
      const [cookie = ''] = headers.get('set-cookie')!.split(';')
      expect(headers.get('set-cookie')).toContain('; Path=/ui/question; HttpOnly; SameSite=Lax')
      // Another tab of this browser, and another browser.
      expect(await (await fetch(url, { headers: { cookie } })).text()).toContain('name="form"')
      expect((await fetch(url)).status).toBe(401)
      expect(headers.get('content-security-policy')).not.toContain('script-src')
      for (const name of ['/ui/', '/ui/api/questions', '/ui/api/servers', url.replace('/question/', '/open/')])
        expect((await fetch(new URL(name, url), { headers: { cookie } })).status).toBe(401)
      expect((await send('no')).status).toBe(200)
      return 'accept'
    },
  ],
])('a link to a question that %s lets no call through', async (_, expected, answer) => {
  let isOver = false
  next = (...asked) => answer(...asked).finally(() => (isOver = true))
  const { bridge, reached } = shared(ask)
  expect(await bridge.run(call())).toMatch(expected)
  expect([reached(), isOver]).toEqual([[], true])
})

it('an answer through a link does not count when its call is cancelled', async () => {
  const controller = new AbortController()
  let link = ''
  next = (url) => {
    link = url
    setTimeout(() => controller.abort(), 200)
    return Promise.resolve('accept')
  }
  const { bridge, home, reached } = shared(ask)
  await expect(bridge.call({ code: call() }, { signal: controller.signal })).rejects.toThrow()
  await until(() => readdirSync(path.join(home, 'MCPs', '.sandbridge', 'questions')).length === 0)
  expect((await press(link, 'yes')).status).toBe(400)
  expect(reached()).toEqual([])
})

it('a link to a question reaches its client over HTTP, and no other client', async () => {
  const journal = path.join(makeHome(), 'journal')
  const entry = { ...fixtureServer('ruled.mjs', journal), permissions: ask }
  const bridge = await startHttpBridge({ servers: { hub: entry } })
  const asked: string[] = []
  const connect = (who: string) =>
    bridge.connect('legacy', {
      clientName: who,
      ...showsLinks(async (url) => {
        asked.push(who)
        expect((await press(url, 'yes')).status).toBe(200)
        return 'accept'
      }),
    })
  const [one, other] = [await connect('one'), await connect('other')]
  await other.run('1')
  expect(await one.run(call())).toBe('called')
  expect(asked).toEqual(['one'])
  expect(readFileSync(journal, 'utf8').trim().split('\n')).toHaveLength(1)
})
