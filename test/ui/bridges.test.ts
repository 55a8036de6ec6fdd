// This file verifies that one page shows every bridge of its user, with their cells, servers and questions, and can use
// them.
import { chmodSync, chownSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { LiveClient } from '../../src/observe/live/live-client.ts'
import { liveBridges, liveFolder } from '../../src/observe/live/live-folder.ts'
import { fixtureServer, openTestBridge, type TestBridge } from '../support/bridge-process.ts'
import { goTo, openPage } from '../support/browser-page.ts'
import { openObserved } from '../support/observed-bridge.ts'
import { needsRoot } from '../support/needs.ts'

// A browser, two bridges and their sandboxes share the machine with other tests.
vi.setConfig({ testTimeout: 120_000 })

const hub = { ...fixtureServer('ruled.mjs', '/dev/null'), permissions: { ask: ['create_issue'] } }
const LIVE = { MCP_BRIDGE_LIVE: '1' }

/** A bridge of the same user in a separate process. */
async function openOther(home: string): Promise<TestBridge> {
  const other = await openTestBridge({
    home,
    env: { ...LIVE, MCP_BRIDGE_POOL: '0', MCP_BRIDGE_SOURCES: 'mcps' },
    clientName: 'other',
  })
  onTestFinished(() => other.client.close())
  return other
}

/** What cells of a bridge have printed so far, as sent to a program that attaches. */
async function printed(stateDir: string, pid: number): Promise<string> {
  const bridge = (await liveBridges(stateDir)).find((one) => one.pid === pid)
  if (!bridge) return ''
  const client = await LiveClient.attach(bridge, { onEvent: () => {}, onDropped: () => {}, onClose: () => {} })
  client.close()
  return client.hello.cells.map(({ output }) => output.stdout).join('')
}

describe('a page beside other bridges (needs Chromium)', () => {
  it('a page beside other bridges shows their cells as they run, and stops one', async () => {
    const { page, home, problems } = await openPage({ env: LIVE })
    const other = await openOther(home)
    await other.run('before = 1')
    const running = other.call({ code: 'print("from elsewhere")\nwhile True: pass' })
    await page.getByText('from elsewhere', { exact: true }).waitFor()
    await page.getByText(`Bridge ${other.pid} in `).first().waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    expect((await running).text).toMatch(/interrupt/i)
    await page.getByText('interrupted', { exact: true }).waitFor()
    expect(problems).toEqual([])
  })

  it('a page beside other bridges shows a cell that began before the page was opened', async () => {
    const { home, bridge, page, service, problems } = await openPage({ env: LIVE })
    await page.close()
    const other = await openOther(home)
    const running = other.call({ code: 'print("an early word", flush=True)\nmarker = "early bird"\nwhile True: pass' })
    while ((await printed(bridge.settings.stateDir, other.pid)) === '') await sleep(20)
    const again = await page.context().newPage()
    await again.goto(service.newLink())
    await again.getByText('early bird').waitFor()
    await again.getByText('an early word', { exact: true }).waitFor()
    await again.getByRole('button', { name: 'Stop' }).click()
    expect((await running).text).toMatch(/interrupt/i)
    expect(problems).toEqual([])
  })

  it('a page beside other bridges lists their servers, and starts one', async () => {
    const { page, home, problems } = await openPage({ env: LIVE, servers: { hub } })
    const other = await openOther(home)
    await other.run('1')
    await goTo(page, 'Servers')
    const theirs = page.getByRole('region', { name: `Bridge ${other.pid}` })
    await theirs.getByRole('link', { name: /hub/ }).click()
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByText('await mcp_hub.create_issue(').waitFor()
    await theirs.getByText('running').waitFor()
    expect(await other.run('await mcp_hub.get_issue(id=1)')).not.toContain('Error')
    expect(problems).toEqual([])
  })

  it('a page beside other bridges answers a question of another bridge', async () => {
    const { page, home, problems } = await openPage({ env: LIVE, servers: { hub } })
    const other = await openOther(home)
    const code =
      'try:\n    await mcp_hub.create_issue(owner="acme", title="Fix it")\n    print("called")\nexcept runtime.PermissionDenied:\n    print("denied")'
    expect(await other.run(code)).toContain('denied')
    await goTo(page, 'Ask')
    await page.getByText(`Bridge ${other.pid} in `).waitFor()
    await page.getByRole('button', { name: 'yes, this once' }).click()
    await page.getByText('Answered: yes, this once.').waitFor()
    expect(await other.run(code)).toContain('called')
    expect(problems).toEqual([])
  })

  it('a page beside other bridges says that a bridge has ended, and then removes it', async () => {
    const { page, home, problems } = await openPage({ env: LIVE })
    const other = await openOther(home)
    const running = other.call({ code: 'print("mortal")\nwhile True: pass' }).catch(() => {})
    await page.getByText('mortal', { exact: true }).waitFor()
    process.kill(other.pid, 'SIGKILL')
    await page.getByText(new RegExp(`Bridge ${other.pid} in .* has ended`)).waitFor()
    await page.getByText('killed', { exact: true }).waitFor()
    await page.getByText('mortal', { exact: true }).waitFor({ state: 'detached' })
    expect(await page.getByText(`Bridge ${other.pid}`).count()).toBe(0)
    await running
    expect(problems).toEqual([])
  })
})

describe('the bridges of other users', () => {
  const announced = async (): Promise<string> => {
    const { bridge } = await openObserved({ env: LIVE })
    const { stateDir } = bridge.settings
    while ((await liveBridges(stateDir)).length === 0) await sleep(10)
    return stateDir
  }

  it('the bridges of other users are not searched in a folder that others can write to', async () => {
    const stateDir = await announced()
    chmodSync(liveFolder(stateDir), 0o777)
    expect(await liveBridges(stateDir)).toEqual([])
    chmodSync(liveFolder(stateDir), 0o700)
    expect(await liveBridges(stateDir)).toHaveLength(1)
  })

  it('the bridges of other users are not connected to: a socket of another user (needs root)', async () => {
    needsRoot('it gives a socket to another user')
    const stateDir = await announced()
    const [found] = await liveBridges(stateDir)
    chownSync(found!.socket, 65_534, 65_534)
    expect(await liveBridges(stateDir)).toEqual([])
  })

  it('a bridge does not register in a folder that others can write to, and runs on', async () => {
    const { home } = await openObserved()
    const folder = liveFolder(path.join(home, 'MCPs'))
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    chmodSync(folder, 0o777)
    const other = await openOther(home)
    expect(await other.run('6 * 7')).toContain('42')
    chmodSync(folder, 0o700)
    expect(await liveBridges(path.join(home, 'MCPs'))).toEqual([])
  })
})
