// A real Chromium with a bridge's page. Skips the test without one, and fails a test whose page writes to the console
// or contacts another host.
import { type Browser, chromium, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import type { AnswerPage } from '../../../core/src/calls/permissions/answer-page.ts'
import { servePage } from '../../src/serve-page.ts'
import { onPath, skip } from '@sandbridge/core/test/support/suite/needs.ts'
import {
  type ObservedBridge,
  type ObservedOptions,
  openObserved,
} from '@sandbridge/core/test/support/bridges/observed-bridge.ts'

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome']

/** Undefined without a browser. */
const BROWSER = process.env['SANDBRIDGE_TEST_BROWSER'] ?? PROGRAMS.map(onPath).find((file) => file !== undefined)

function needsBrowser(): string {
  return BROWSER ?? skip('it needs Chromium')
}

export interface OpenPage extends ObservedBridge {
  page: Page
  service: AnswerPage
  browser: Browser
  /** Problems in the page so far. */
  problems: string[]
}

interface PageOptions extends ObservedOptions {
  width?: number
}

/** Problems that tests provoke: the bridge is gone, or refuses. */
const PROVOKED =
  /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|status of (400|401|403)/

/** The tests of a file have one, as its start takes a second of two processors. */
let shared: { browser: Promise<Browser>; users: number } | undefined
const LINGER_MS = 2_000

/** Each test has contexts of its own in it. */
export async function launch(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu']
  const own = (shared ??= { browser: chromium.launch({ executablePath: needsBrowser(), args }), users: 0 })
  own.users += 1
  const browser = await own.browser
  onTestFinished(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()))
    own.users -= 1
    setTimeout(() => {
      if (own.users > 0 || shared !== own) return
      shared = undefined
      void browser.close()
    }, LINGER_MS)
  })
  return browser
}

export async function openPage({ width, ...options }: PageOptions = {}): Promise<OpenPage> {
  needsBrowser()
  const observed = await openObserved(options)
  const service = await servePage(observed.bridge, 0)
  onTestFinished(() => service.close())
  const browser = await launch()
  const { page, problems } = await openLink(browser, service.newLink(), width)
  return { ...observed, page, service, browser, problems }
}

/** Switches to another view. */
export function goTo(page: Page, view: string): Promise<void> {
  return page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: view }).click()
}

export async function openLink(
  browser: Browser,
  link: string,
  width = 1280,
): Promise<{ page: Page; problems: string[] }> {
  const context = await browser.newContext({
    colorScheme: 'light',
    viewport: { width, height: 860 },
    deviceScaleFactor: 1,
  })
  context.setDefaultTimeout(30_000)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !PROVOKED.test(message.text())) problems.push(message.text())
  })
  page.on('request', (request) => {
    const { host, protocol } = new URL(request.url())
    if (protocol !== 'data:' && host !== new URL(link).host) problems.push(`asked ${request.url()}`)
  })
  await page.goto(link)
  await page.getByText('live', { exact: true }).waitFor()
  return { page, problems }
}
