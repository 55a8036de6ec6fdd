// @module-tag whole: it starts sandboxes in a made-up cluster
// This file verifies the built bridge with the KUBECONFIG of a fake cluster: what a user and an administrator see,
// including the network check.
import { afterAll, expect, it } from 'vitest'
import { bridgeEnv, CLI, makeHome, published } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { FakeCluster } from '../support/fake-cluster/fake-cluster.ts'
import { providerOrSkip } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

const cluster = await FakeCluster.start()
afterAll(() => cluster.stop())

const env = { MCP_BRIDGE_RUNTIME: 'kubernetes', KUBECONFIG: cluster.kubeconfig }
const pods = () => cluster.pods.list().map(({ metadata }) => metadata.name)

it('cells in pods run, call tools, are interrupted, flood, and leave no pod behind', { timeout: 180_000 }, async () => {
  // The fake cluster's pods run in bubblewrap.
  await providerOrSkip('bubblewrap')
  const bridge = await startBridge({ servers: { everything: published.everything() }, env })
  expect(await bridge.run('x = 20\nx + 1')).toBe('21')
  expect(await bridge.run("(await mcp_everything.echo(message='from a pod'))")).toContain('Echo: from a pod')

  const endless = await bridge.call({ code: 'while True: pass', timeout: 1 })
  expect([endless.structured['status'], await bridge.run('x')]).toEqual(['timeout', '20'])

  const before = new AbortController()
  setTimeout(() => before.abort(), 1_000)
  await bridge.call({ code: 'while True: pass' }, { signal: before.signal }).catch(() => {})
  expect(await bridge.run('x')).toBe('20')

  const flood = await bridge.call({ code: "for _ in range(1024):\n    print('x' * 65535)\nx", timeout: 100 })
  expect([flood.isError, flood.text.slice(-200)]).toEqual([false, expect.stringContaining('20')])

  await bridge.client.close()
  await until(() => pods().length === 0)
})

it('doctor says whether the cluster can be used', async () => {
  await providerOrSkip('bubblewrap')
  const doctor = async () => {
    const { stdout } = await runProgram(process.execPath, [CLI, 'doctor', '--json'], bridgeEnv(makeHome(), env))
    return JSON.parse(stdout) as { providers: { name: string; usable: boolean; verdict: string }[]; trial: object }
  }
  const good = await doctor()
  expect(good.providers.at(-1)).toMatchObject({ name: 'kubernetes', usable: true })
  expect(good.trial).toMatchObject({ ok: true })
  cluster.denied.add('create pods')
  const bad = await doctor()
  expect(bad.providers.at(-1)).toMatchObject({
    usable: false,
    verdict: expect.stringContaining('this user may not create pods'),
  })
  expect(bad.trial).toMatchObject({ ok: false, detail: expect.stringContaining('cannot create resource "pods"') })
  cluster.heal()
})
