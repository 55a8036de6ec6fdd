// This file verifies what a stranger's link can do to the page of sign-ins, and what one user's links do to another's.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { SignInPages } from './sign-in-pages.ts'

async function served() {
  const pages = new SignInPages('http://127.0.0.1/mcp')
  const server = createServer(
    (asked, answer) => void pages.answer(asked, answer, '/sign-in', () => Promise.reject(new Error('x'))),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const get = (query: string) =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp/sign-in?${query}`)
  return { pages, get }
}

it('the name of a server in a link is short and displays as it is', async () => {
  const { get } = await served()
  const words = 'Your session has ended. '
  const page = await (await get(new URLSearchParams({ server: `a\u202eb\n${words.repeat(100)}` }).toString())).text()
  expect(page).toContain('<h1>Sign in to ab Your session')
  expect(page.split(words).length).toBeLessThan(20)
  expect(await (await get('server=my+server')).text()).toContain('<h1>Sign in to my server</h1>')
})

it('links of one user end no link of another', async () => {
  const { pages, get } = await served()
  const page = new URL('https://login.example/?state=s')
  const link = (user: string): string => new URL(pages.linkTo({ server: 's', user, page })).search.slice(1)
  const [ann, first] = [link('ann'), link('ben')]
  for (let at = 0; at < 2_000; at += 1) link('ben')
  expect((await get(ann)).status).toBe(200)
  expect((await get(first)).status).toBe(410)
})
