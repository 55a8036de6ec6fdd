// @module-tag whole: it starts many sessions at once
// This file verifies that many HTTP clients that connect at once all get a sandbox and see their position meanwhile,
// and that a bridge that is stopped leaves nothing behind, whether sandboxes run or are being started.
// SANDBRIDGE_CROWD=100 is the long form.
import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import type { ProviderName } from '../../../core/src/isolation/provider.ts'
import { providerOrSkip, runtimeEnv } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { type HttpBridge, type HttpClient, startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { descendants, runningProcesses, until } from '@sandbridge/core/test/support/machine/processes.ts'
import { needsLinux } from '@sandbridge/core/test/support/suite/needs.ts'

const COUNT = Number(process.env['SANDBRIDGE_CROWD'] ?? 10)

async function startCrowd(runtime: ProviderName) {
  needsLinux('processes are read from /proc')
  await providerOrSkip(runtime)
  const bridge = await startHttpBridge({
    env: { ...runtimeEnv(runtime), MCP_BRIDGE_HTTP_LIMITS: `sessions=${COUNT}` },
  })
  const clients = await Promise.all(Array.from({ length: COUNT }, () => bridge.connect('legacy')))
  const heard = clients.map(() => [] as string[])
  const answers = clients.map((client, index) =>
    client.call({ code: `${index} * 11` }, { onprogress: ({ message = '' }) => void heard[index]!.push(message) }),
  )
  return { bridge, heard, answers }
}

function containersOf({ pid }: HttpBridge): string[] {
  const args = ['ps', '--all', '--quiet', '--filter', `label=sandbridge.bridge=${pid}`]
  return spawnSync('docker', args, { encoding: 'utf8' }).stdout.split('\n').filter(Boolean)
}

/** A container that is being created when the bridge ends starts without an input, exits and is removed. */
async function endAndAwaitNothingLeft(bridge: HttpBridge, runtime: ProviderName): Promise<void> {
  const children = new Set(descendants(bridge.pid).map(({ pid }) => pid))
  const exited = new Promise((resolve) => bridge.child.once('exit', resolve))
  bridge.child.kill('SIGTERM')
  await exited
  await until(() => !runningProcesses().some(({ pid }) => children.has(pid)))
  if (runtime === 'docker') await until(() => containersOf(bridge).length === 0)
}

describe.each(['bubblewrap', 'docker'] as const)(`${COUNT} clients at once (%s)`, (runtime) => {
  it(
    `a crowd of clients all get an answer, hear their place, and leave no sandbox (${runtime})`,
    { timeout: 60_000 + COUNT * 3_000 },
    async () => {
      const { bridge, heard, answers } = await startCrowd(runtime)
      const texts = (await Promise.all(answers)).map(({ text }) => text)
      expect(texts).toEqual(texts.map((_, index) => expect.stringMatching(new RegExp(`^${index * 11}\\b`))))
      const places = heard.flat().filter((message) => message.startsWith('waiting for a sandbox: place '))
      expect(places.length).toBeGreaterThan(0)
      await endAndAwaitNothingLeft(bridge, runtime)
    },
  )

  it('a crowd of clients leaves no sandbox when the bridge is ended while sandboxes start', async () => {
    const { bridge, heard, answers } = await startCrowd(runtime)
    for (const answer of answers) answer.catch(() => {})
    await until(() => heard.flat().some((message) => message.includes('place')))
    // Waits until no process and no container of the bridge is left.
    await endAndAwaitNothingLeft(bridge, runtime)
  })
})

it('clients that are as many as the sessions a bridge may keep are all connected at once', async () => {
  const count = 300
  const bridge = await startHttpBridge({ env: { MCP_BRIDGE_HTTP_LIMITS: `sessions=${count}` } })
  const clients: HttpClient[] = []
  // In groups no larger than what may take its time: a busy machine needs seconds for the first requests of all.
  while (clients.length < count)
    clients.push(...(await Promise.all(Array.from({ length: 60 }, () => bridge.connect('legacy')))))
  // Each client has an open stream meanwhile.
  const tools = await Promise.all(clients.map(({ client }) => client.listTools()))
  expect(tools.map((one) => one.tools.length)).toEqual(Array.from({ length: count }, () => 1))
})
