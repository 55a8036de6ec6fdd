// The page in a real browser: first paint with ten thousand runs, and the time from an event in the bridge to its row
// on the screen.
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { chromium } from 'playwright-core'
import { RecordFile } from '@sandbridge/record/audit/record-file.ts'
import { Bridge } from '../../core/src/bridge/bridge.ts'
import { readSettings } from '../../core/src/config/settings/settings.ts'
import { SILENT } from '../../core/src/util/log.ts'
import { servePage } from '@sandbridge/page/serve-page.ts'
import { bridgeEnv, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { median, ms, samples } from '../../../bench/measure.ts'
import { atMost, type BenchRow } from '../../../bench/row.ts'
import { LogFolder } from '../../core/src/util/stores/files/log-folder.ts'

const RUNS = 10_000
const PAINT_GOAL_MS = 1_000
const EVENT_GOAL_MS = 200
const BROWSER = '/usr/bin/chromium'

/** The recorded runs of other bridges. */
async function writeRecord(stateDir: string): Promise<void> {
  const limits = { fileBytes: 8 << 20, totalBytes: Infinity, waitingLines: RUNS }
  const record = new RecordFile({
    logs: new LogFolder(path.join(stateDir, '.sandbridge/audit')),
    about: {},
    sync: false,
    limits,
  })
  const begin = Date.now() - RUNS * 1_000
  for (let number = 1; number < RUNS; number += 1) {
    record.add({
      time: new Date(begin + number * 1_000).toISOString(),
      type: 'run',
      id: `old-${number}`,
      run: `run-${number}`,
      session: 's',
      client: `client ${number}`,
      number,
      status: 'ok',
      codeHash: 'f'.repeat(64),
      durationMs: 400,
    })
  }
  await record.close()
}

export default async function pageRows(): Promise<BenchRow[]> {
  const names = [
    `the page: first paint of the record with ${RUNS.toLocaleString('en')} runs`,
    'the page: from an event to its row',
  ]
  if (!existsSync(BROWSER)) return names.map((name) => ({ name, value: 'no Chromium', goal: '', ok: null }))
  const home = makeHome()
  const bridge = await Bridge.open(readSettings(bridgeEnv(home, { MCP_BRIDGE_POOL: '0' }), { home }), SILENT)
  const service = await servePage(bridge, 0)
  const run = (number: number): void => {
    const about = { id: `cell-${number}`, session: 's', number, code: `step(${number})`, servers: [], timeoutMs: 1 }
    bridge.events.emit({ type: 'cell.started', ...about, sandbox: 's', provider: 'p' })
    bridge.events.emit({ type: 'cell.ended', id: about.id, status: 'ok', durationMs: 1, stateLost: false })
  }
  await writeRecord(bridge.settings.stateDir)
  run(RUNS)
  bridge.events.flush()
  const browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const page = await browser.newPage()
    await page.goto(service.newLink())
    const newest = (number: number) => page.getByText(`step(${number})`, { exact: true }).first().waitFor()
    await newest(RUNS)
    await page.goto(`${new URL(page.url()).origin}/ui/#/record`)
    const paints = await samples(5, async () => {
      const startedAt = performance.now()
      await page.reload()
      await page.getByText('runs, and older ones').waitFor()
      await newest(RUNS)
      await page.getByText(`client ${RUNS - 1}: no call`).waitFor()
      return performance.now() - startedAt
    })
    const events = await samples(15, async (index) => {
      const startedAt = performance.now()
      run(RUNS + 1 + index)
      await newest(RUNS + 1 + index)
      return performance.now() - startedAt
    })
    return [atMost(names[0]!, median(paints), PAINT_GOAL_MS, ms), atMost(names[1]!, median(events), EVENT_GOAL_MS, ms)]
  } finally {
    await browser.close()
    service.close()
    await bridge.close()
    await rm(home, { recursive: true, force: true })
  }
}
