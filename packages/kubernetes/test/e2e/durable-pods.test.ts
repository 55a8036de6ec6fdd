// @module-tag whole: it starts sandboxes in a made-up cluster
// This file verifies that sessions in Kubernetes outlive a bridge, and that any replica serves any call, on a fake
// cluster whose pods are processes in bubblewrap.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { providerOrSkip } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { FakeCluster } from '../support/fake-cluster/fake-cluster.ts'
import { handleIn, startReplicas, testDurablePods } from './durable-pods.ts'

const cluster = await FakeCluster.start()
afterAll(() => cluster.stop())

const env = {
  MCP_BRIDGE_RUNTIME: 'kubernetes',
  MCP_BRIDGE_KUBERNETES: 'network=unchecked',
  KUBECONFIG: cluster.kubeconfig,
}

testDurablePods({
  env,
  // The fake cluster's pods run in bubblewrap.
  skipWithout: async () => void (await providerOrSkip('bubblewrap')),
  stopApiServer: () => cluster.goAway(),
  startApiServer: () => cluster.listen(),
  awayMs: 700,
  deletePods: async () => {
    for (const { metadata } of cluster.pods.list()) cluster.delete(metadata.name, 0)
  },
})

/** Pods that belonged to a session. */
const keptPods = () =>
  cluster.pods.list().flatMap(({ metadata }) => (metadata.annotations?.['sandbridge/owner'] ? [metadata.name] : []))

it('a cell whose time is up while its node does not answer keeps its variables, and the next one has them once it does', async () => {
  const before = keptPods()
  const { clients } = await startReplicas({ env }, 1)
  const [client] = clients
  const session = handleIn(await client!.run('kept = 7\nimport asyncio'))
  const pod = keptPods().find((name) => !before.includes(name))!
  const running = client!.run('await asyncio.sleep(600)', { session, timeout: 3 })
  await sleep(1_500)
  cluster.freeze(pod)
  const late = await running
  expect(late).toContain('Timed out after 3 s')
  expect(late).toContain('Its sandbox does not answer')
  expect(late).not.toContain('are gone')
  const refused = await client!.run('kept', { session })
  expect(refused).toMatch(
    /node of the kept sandbox .* does not answer, so its variables cannot be had now.*Retry later/s,
  )
  cluster.thaw(pod)
  expect(await client!.run('kept', { session })).toMatch(
    /^7\n\[sandbridge: Cell 2 reached its time limit while no bridge was there/,
  )
  // The control: a pod whose bridge responds but whose cell does not stop is ended.
  const stubborn = `
def spin():
    while True:
        try:
            while True: pass
        except BaseException: pass
while True:
    try: spin()
    except BaseException: pass`
  expect(await client!.run(stubborn, { session, timeout: 1 })).toContain('All variables are gone')
})
