// @module-tag whole: it starts sandboxes in a made-up cluster
// This file verifies two replicas on one fake cluster, of which one is told to stop while cells run in its pods, as in
// a rolling update or by an autoscaler.
import { once } from 'node:events'
import { afterAll, expect, it } from 'vitest'
import { providerOrSkip } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { FakeCluster } from '../support/fake-cluster/fake-cluster.ts'
import { type HttpBridge, type HttpClient, startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'

const cluster = await FakeCluster.start()
afterAll(() => cluster.stop())

function startReplica(): Promise<HttpBridge> {
  return startHttpBridge({
    env: {
      MCP_BRIDGE_RUNTIME: 'kubernetes',
      KUBECONFIG: cluster.kubeconfig,
      MCP_BRIDGE_KUBERNETES: 'network=unchecked',
      MCP_BRIDGE_POOL: '0',
      MCP_BRIDGE_HTTP_TOKEN: 'a-token-of-both-replicas',
      MCP_BRIDGE_DRAIN: '100',
    },
  })
}

const readiness = async ({ url }: HttpBridge) => (await fetch(new URL('/readyz', url))).status

/** A cell that has begun and says so. */
function begun(client: HttpClient, code: string) {
  let answer!: ReturnType<HttpClient['call']>
  return new Promise<{ answer: typeof answer }>((resolve) => {
    const onprogress = ({ message = '' }) => void (message.includes('has begun') && resolve({ answer }))
    answer = client.call({ code: `print('has begun')\n${code}`, timeout: 100 }, { onprogress })
  })
}

it(
  'a replica that drains lets its cells end and answer, and takes no new session, which the other replica does',
  { timeout: 180_000 },
  async () => {
    await providerOrSkip('bubblewrap')
    const [leaving, staying] = await Promise.all([startReplica(), startReplica()])
    await expect.poll(() => Promise.all([leaving, staying].map(readiness)), { timeout: 30_000 }).toEqual([200, 200])
    const [ann, bob, other] = await Promise.all([
      leaving.connect('modern'),
      leaving.connect('legacy'),
      staying.connect('modern'),
    ])
    const kept = await other.call({ code: 'x = 20' })
    const wait = "import time\ntime.sleep(5)\n'came to its end'"
    const cells = await Promise.all([begun(ann, wait), begun(bob, wait)])

    leaving.child.kill('SIGTERM')
    await expect.poll(() => readiness(leaving)).toBe(503)
    // As behind a Service: a new client gets the ready replica.
    const [next] = (await Promise.all([leaving, staying].map(async (one) => ({ one, status: await readiness(one) }))))
      .filter(({ status }) => status === 200)
      .map(({ one }) => one)
    expect(next).toBe(staying)
    expect(await (await staying.connect('modern')).run('6 * 7')).toMatch(/^42\n/)
    // A client that comes to the other one anyway gets an error.
    expect(await ann.call({ code: '1' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('shutting down'),
    })

    for (const { answer } of cells)
      expect(await answer).toMatchObject({ isError: false, text: expect.stringContaining('came to its end') })
    expect(await once(leaving.child, 'exit')).toEqual([143, null])
    expect(await other.run('x + 1', { session: kept.structured['session'] })).toBe('21')
    await until(() => cluster.pods.list().length <= 2)
  },
)
