// @module-tag whole: it needs a browser
// This file verifies that the page works with keyboard and screen reader, in both themes and on a narrow screen, and
// takes the screenshots of docs/ui.md: SANDBRIDGE_SCREENSHOTS=docs/ui writes those, any other folder gets all.
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { devNull } from 'node:os'
import path from 'node:path'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { fixtureServer, published, ROOT } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { goTo, openPage } from '../support/browser-page.ts'
import { writeOldRecord } from '@sandbridge/record/test/support/old-record.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** Screenshots in docs/ui.md. */
const DOCUMENTED = new Set(['now-light-1280', 'now-dark-1280', 'find-dark-1280'])

const REPORT = `# What does the trip cost?
import json

legs = [(120, 45), (80, 30), (200, 60)]
sums = []
for fare, extra in legs:
    sums.append(await mcp_everything.get_sum(a=fare, b=extra))
forecast = await mcp_everything.get_structured_content(location="Chicago")
print("asked", len(sums), "times")
forecast`

const ASKS = { ...fixtureServer('ruled.mjs', devNull), permissions: { ask: ['create_issue'] } }

const WORKFLOW = `
def double(n: int) -> int:
    "Twice as much."
    return 2 * n
runtime.save_tool(double)
async def weekly_report(week: int, dry: bool = False):
    "Adds up what a week cost."
    return await mcp_everything.get_sum(a=week, b=1)
runtime.save_workflow("weekly-report", weekly_report)
async def weekly_report(week: int, dry: bool = False):
    "Adds up what a week cost, twice."
    return await mcp_everything.get_sum(a=week, b=week)
runtime.save_workflow("weekly-report", weekly_report)`

const YESTERDAY = Date.now() - 24 * 60 * 60_000
const OLD_CALL = {
  type: 'call',
  cell: 'cell-1',
  kind: 'tool',
  server: 'github',
  outcome: 'ok',
  args: '{owner: string, repo: string}',
}
const OLD_RUN = [
  { ...OLD_CALL, id: 'a', time: iso(900), name: 'list_issues', durationMs: 800 },
  { ...OLD_CALL, id: 'b', time: iso(1_700), name: 'create_issue', durationMs: 400 },
  {
    type: 'run',
    run: 'run-1',
    time: iso(1_800),
    session: '3f09a1c2d4e5f607',
    client: 'claude-code',
    clientVersion: '2.1.0',
    id: 'cell-1',
    number: 4,
    status: 'ok',
    codeHash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    provider: 'podman',
    durationMs: 1_800,
  },
]

function iso(ms: number): string {
  return new Date(YESTERDAY + ms).toISOString()
}

const PICTURE = `
import struct, zlib
W, H = 640, 200
rows = bytearray()
for y in range(H):
    rows += b"\\0"
    for x in range(W):
        bar = 40 + (x // 40 * 53) % 150
        on = y > H - bar and x % 40 > 6
        rows += bytes((42, 91, 208) if on else (255, 255, 255))
chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
PNG = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", W, H, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(bytes(rows))) + chunk(b"IEND", b"")
class Chart:
    def _repr_png_(self): return PNG
chart = Chart()`

async function audit(page: Page, where: string): Promise<void> {
  // The page's policy forbids foreign scripts; evaluate bypasses it, like a browser extension.
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(readFileSync(AXE, 'utf8'))
  const { violations } = await page.evaluate<AxeResults>(`axe.run({ resultTypes: ['violations'] })`)
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  const told = serious.map(({ id, nodes }) => {
    const parts = nodes.map(({ html }) => html)
    return `${where}: ${id}: ${parts.slice(0, 3).join(' ')}`
  })
  expect(told).toEqual([])
}

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['SANDBRIDGE_SCREENSHOTS']
  if (!folder || (folder === 'docs/ui' && !DOCUMENTED.has(name))) return
  mkdirSync(path.resolve(ROOT, folder), { recursive: true })
  await page.screenshot({ path: path.resolve(ROOT, folder, `${name}.png`), animations: 'disabled' })
}

/** Each theme and each width once, and all combinations that the documentation shows when screenshots are written. */
const LOOKS: ['light' | 'dark', number][] = [
  ['dark', 420],
  ...(process.env['SANDBRIDGE_SCREENSHOTS'] ? [['dark', 1280] as ['dark', number]] : []),
  ['light', 1280],
]

it(
  'every view is accessible in light and dark colours, on wide and narrow screens (needs Chromium)',
  { timeout: 240_000 },
  async () => {
    const { page, run, bridge, opened, problems } = await openPage({
      servers: {
        everything: published.everything(),
        broken: { command: 'no-such-program', args: ['--port', '1'] },
        asks: ASKS,
      },
      env: { MCP_BRIDGE_AUDIT: 'shape' },
    })
    await writeOldRecord(path.join(bridge.settings.stateDir, '.sandbridge/audit'), OLD_RUN)
    // The last look is the one in which the next view is opened.
    const shot = async (name: string): Promise<void> => {
      for (const [colorScheme, width] of LOOKS) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 860 })
        await page.waitForTimeout(150)
        await audit(page, `${name}, ${colorScheme}, ${width}`)
        await picture(page, `${name}-${colorScheme}-${width}`)
      }
    }
    await shot('empty')
    await opened.catalog.index(['everything', 'broken'])
    await run(PICTURE)
    await run('await runtime.save_artifact("trips.csv", "leg,fare\\n1,165\\n2,110\\n3,260\\n")\nchart')
    await run('await mcp_everything.get_sum(a=1, b="x")')
    await run('print("x" * 30)\n1/0')
    await run(WORKFLOW)
    await run(REPORT)
    void run(
      'import asyncio\nprint("waiting for the report …")\nawait mcp_everything.trigger_long_running_operation(duration=60, steps=20)',
    ).catch(() => {})
    await page.getByRole('button', { name: 'trigger-long-running' }).waitFor()
    await page.locator('.folded').first().click()
    await page.locator('.usage').waitFor()
    await shot('now')
    await goTo(page, 'Servers')
    await page.getByRole('link', { name: /broken/ }).click()
    await page.getByText('It failed').waitFor()
    await shot('servers-failed')
    await page.goto(`${page.url().split('#')[0]!}#/servers/everything`)
    await page.getByText('await mcp_everything.echo(').waitFor()
    await shot('servers')
    await goTo(page, 'Find')
    await page.getByRole('searchbox').fill('add two numbers')
    await page.getByText('everything.get_sum', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Try it' }).first().click()
    await shot('find')
    await goTo(page, 'Cells')
    await page.locator('.cm-focused').waitFor()
    await page.keyboard.type('for name in ["a", "b"]:\nprint(name)')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('article', { name: 'Cell 1' }).getByText('done').waitFor()
    await page.keyboard.type('sum([1, 2])  # more')
    await shot('cells')
    await page.getByRole('combobox', { name: 'Session' }).selectOption({ index: 1 })
    await page.getByRole('article', { name: 'Cell 1' }).first().waitFor()
    await page.getByRole('combobox', { name: 'Session' }).scrollIntoViewIfNeeded()
    await shot('cells-shared')
    await goTo(page, 'Record')
    await page.locator('.run').first().waitFor()
    await shot('record')
    await page.getByText('claude-code: 2 calls of github').click()
    await page.getByText('The audit log keeps a hash of the code').waitFor()
    await shot('record-old')
    await goTo(page, 'Kept')
    await page.getByRole('link', { name: /trips/ }).click()
    await page.getByText('leg,fare').waitFor()
    await shot('kept')
    await page.goto(`${page.url().split('#')[0]!}#/kept/tool%20weekly_report`)
    await page.getByRole('group', { name: 'Source' }).waitFor()
    await shot('kept-workflow')
    void run('try: await mcp_asks.create_issue(owner="acme", title="Fix it")\nexcept Exception: pass').catch(() => {})
    await goTo(page, 'Ask')
    await page.getByRole('button', { name: 'yes, this once' }).waitFor()
    await shot('ask')
    await goTo(page, 'Cost')
    await page.getByRole('cell').first().waitFor()
    await shot('cost')
    await goTo(page, 'Settings')
    await page.getByText('sandbox.runtime', { exact: true }).waitFor()
    await shot('settings')
    expect(problems).toEqual([])
  },
)
