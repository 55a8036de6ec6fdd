// @module-tag whole: it needs a real cluster
// This file verifies the built bridge on a real cluster, if there is one: API server, scheduler and nodes, which the
// fake cluster only imitates.
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { readPod } from '../../src/pod/pod-state.ts'
import { bridgeEnv, CLI, makeHome, published } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { asAdmin, REAL_ENV, skipWithoutCluster } from '../support/real-cluster.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

beforeEach(skipWithoutCluster)

/** Pods of bridges that are not being ended, except those that outlive their bridges. */
async function livePods(): Promise<string[]> {
  const pods = await (await asAdmin()).listPods('app.kubernetes.io/managed-by=sandbridge,!sandbridge/durable')
  return pods.flatMap((item) => {
    const pod = readPod(item)
    return pod && !pod.isDeleting && !pod.terminated ? [pod.name] : []
  })
}

/** Forbids creating pods until the test ends or the returned function is called. */
async function closeQuota(): Promise<() => Promise<void>> {
  const { client, namespace } = await asAdmin()
  const quotas = `/api/v1/namespaces/${namespace}/resourcequotas`
  const body = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'none' }, spec: { hard: { pods: '0' } } }
  await client.request({ method: 'POST', path: quotas, body })
  let open: Promise<unknown> | undefined
  const reopen = async () => {
    open ??= client.request({ method: 'DELETE', path: `${quotas}/none` })
    await open
  }
  onTestFinished(reopen)
  return reopen
}

it('a cluster that enforces no network policy is refused, and says what its pods reach', async () => {
  const bridge = await startBridge({ env: { ...REAL_ENV, MCP_BRIDGE_KUBERNETES: 'network=checked' } })
  const refused = await bridge.call({ code: '1 + 1' })
  expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining('it reached the API server (10.')])
  expect(refused.text).toContain('MCP_BRIDGE_KUBERNETES=network=unchecked')
})

it('cells run, call tools, are interrupted, flood, and leave no pod behind', { timeout: 180_000 }, async () => {
  const bridge = await startBridge({ servers: { everything: published.everything() }, env: REAL_ENV })
  expect(await bridge.run('x = 20\nx + 1')).toBe('21')
  expect(await bridge.run("(await mcp_everything.echo(message='from a pod'))")).toContain('Echo: from a pod')

  const endless = await bridge.call({ code: 'while True: pass', timeout: 1 })
  expect([endless.structured['status'], await bridge.run('x')]).toEqual(['timeout', '20'])

  const flood = await bridge.call({ code: "for _ in range(1024):\n    print('x' * 65535)\nx", timeout: 100 })
  expect([flood.isError, flood.text.slice(-200)]).toEqual([false, expect.stringContaining('20')])

  expect(await livePods()).not.toEqual([])
  await bridge.client.close()
  await until(async () => (await livePods()).length === 0)
})

it('a pod that an administrator deletes is told, and the next cell has a new one', async () => {
  const bridge = await startBridge({ env: { ...REAL_ENV, MCP_BRIDGE_POOL: '0' } })
  await bridge.run('x = 1')
  const [pod = '', ...others] = await livePods()
  expect(others).toEqual([])
  const running = bridge.call({ code: 'import time\ntime.sleep(600)', timeout: 100 })
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  await (await asAdmin()).deletePod(pod, 1)
  expect((await running).text).toContain('a process outside of the sandbox killed it')
  expect(await bridge.run("'x' in globals()")).toContain('False')
})

it('a full quota is an error that says to try again, and no cell is lost by it', async () => {
  const bridge = await startBridge({ env: { ...REAL_ENV, MCP_BRIDGE_POOL: '0' } })
  const reopen = await closeQuota()
  const refused = await bridge.call({ code: '1 + 1' })
  expect([refused.isError, refused.text]).toEqual([true, expect.stringMatching(/no quota left.*Retry when/s)])
  await reopen()
  // The quota controller needs a moment as well.
  await expect.poll(async () => (await bridge.call({ code: '1 + 1' })).text, { timeout: 20_000 }).toBe('2')
})

it('no node with room is an error that says to try again', async () => {
  const env = {
    ...REAL_ENV,
    MCP_BRIDGE_CPUS: '900',
    MCP_BRIDGE_KUBERNETES: 'network=unchecked start=5',
    MCP_BRIDGE_POOL: '0',
  }
  const bridge = await startBridge({ env })
  const refused = await bridge.call({ code: '1 + 1' })
  expect([refused.isError, refused.text]).toEqual([true, expect.stringMatching(/no node has room.*cpu.*Retry/is)])
})

it('doctor finds all rights of the role that deploy/ grants, and the trial cell runs', async () => {
  const { stdout } = await runProgram(process.execPath, [CLI, 'doctor', '--json'], bridgeEnv(makeHome(), REAL_ENV))
  const { providers, trial } = JSON.parse(stdout) as { providers: { name: string; usable: boolean }[]; trial: object }
  expect(providers.at(-1)).toMatchObject({ name: 'kubernetes', usable: true })
  expect(trial).toMatchObject({ ok: true })
})
