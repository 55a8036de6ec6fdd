// @module-tag whole: it starts many bridges over HTTP; http.test.ts has the journey
// This file verifies that a bridge over HTTP that is told to stop answers the open requests with what happened so far,
// or lets their cells end.
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { bridgeEnv } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { sendTask } from '@sandbridge/core/test/support/bridges/task-client.ts'

const CODE = "print('printed before')\nimport time\ntime.sleep(60)"
const TOLD = /printed before[^]*The bridge was shut down while this cell ran/

it.each(['legacy', 'modern'] as const)(
  'a bridge that gets SIGTERM in the middle of a cell answers over HTTP before it ends (%s)',
  async (era) => {
    needsPosix('Windows ends a process at once')
    const bridge = await startHttpBridge()
    const client = await bridge.connect(era)
    let answer!: ReturnType<typeof client.call>
    await new Promise<void>((resolve) => {
      const onprogress = ({ message = '' }) => void (message.includes('printed before') && resolve())
      answer = client.call({ code: CODE }, { onprogress })
    })
    bridge.child.kill('SIGTERM')
    expect(await answer).toMatchObject({ isError: true, text: expect.stringMatching(TOLD) })
  },
)

const status = async (url: string) => (await fetch(new URL('/readyz', url))).status

async function runWhileDraining(seconds: string, code: string) {
  needsPosix('Windows ends a process at once')
  const bridge = await startHttpBridge({ env: { MCP_BRIDGE_DRAIN: seconds } })
  const client = await bridge.connect('modern')
  let answer!: ReturnType<typeof client.call>
  await new Promise<void>((resolve) => {
    const onprogress = ({ message = '' }) => void (message.includes('printed before') && resolve())
    answer = client.call({ code, timeout: 100 }, { onprogress })
  })
  await expect.poll(() => status(bridge.url)).toBe(200)
  bridge.child.kill('SIGTERM')
  await expect.poll(() => status(bridge.url)).toBe(503)
  return { bridge, client, answer, exited: once(bridge.child, 'exit') }
}

it('a bridge that drains lets a cell end, opens no session meanwhile, and ends after it', async () => {
  const code = "print('printed before')\nimport time\ntime.sleep(3)\n'came to its end'"
  const { client, answer, exited } = await runWhileDraining('80', code)
  expect(await client.call({ code: '1' })).toMatchObject({
    isError: true,
    text: expect.stringContaining('is shutting down'),
  })
  expect(await answer).toMatchObject({ isError: false, text: expect.stringContaining('came to its end') })
  expect(await exited).toEqual([143, null])
})

it('a bridge that drains ends the cell when its time is over', async () => {
  const { answer, exited } = await runWhileDraining('3', CODE)
  expect(await answer).toMatchObject({ isError: true, text: expect.stringMatching(TOLD) })
  expect(await exited).toEqual([143, null])
})

it('a bridge that drains lets a cell end that runs as a task, for which no request is open', async () => {
  needsPosix('Windows ends a process at once')
  const bridge = await startHttpBridge({ env: { MCP_BRIDGE_DRAIN: '80' } })
  const params = { name: 'run_python', arguments: { code: 'import time\ntime.sleep(8)' } }
  expect(await sendTask(bridge, { method: 'tools/call', params })).toMatchObject({ resultType: 'task' })
  bridge.child.kill('SIGTERM')
  await once(bridge.child, 'exit')
  const { stdout } = await runCommand(['log', '--json'], bridgeEnv(bridge.home))
  expect(JSON.parse(stdout)).toMatchObject({ type: 'run', status: 'ok' })
})

it('a bridge that drains ends at once with a second signal', async () => {
  const { bridge, answer, exited } = await runWhileDraining('80000', CODE)
  bridge.child.kill('SIGTERM')
  expect(await answer).toMatchObject({ isError: true, text: expect.stringMatching(TOLD) })
  expect(await exited).toEqual([143, null])
})
