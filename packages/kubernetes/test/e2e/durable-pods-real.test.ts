// @module-tag whole: it needs a real cluster
// This file verifies on a real cluster, if there is one, that sessions outlive a bridge, an API server that is down for
// longer than a request is retried, and a node that is disconnected for a while.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import {
  asAdmin,
  cutOff,
  nodeOf,
  reconnect,
  REAL_ENV,
  skipWithoutOwnCluster,
  startApiServer,
  stopApiServer,
} from '../support/real-cluster.ts'
import { handleIn, startReplicas, testDurablePods } from './durable-pods.ts'

const DURABLE = 'sandbridge/durable=true'

async function durablePods(): Promise<string[]> {
  const pods = await (await asAdmin()).listClaims(DURABLE)
  return pods.map(({ state }) => state.name)
}

testDurablePods({
  env: REAL_ENV,
  skipWithout: skipWithoutOwnCluster,
  stopApiServer,
  startApiServer,
  awayMs: 16_000,
  deletePods: async () => {
    const cluster = await asAdmin()
    for (const name of await durablePods()) await cluster.deletePod(name, 0)
  },
})

it('a session goes on when the node of its pod was cut off for 20 seconds, and no call is lost or made twice', async () => {
  const before = await durablePods()
  const { clients, lines } = await startReplicas({ env: REAL_ENV }, 1)
  const [client] = clients
  const session = handleIn(await client!.run('import asyncio'))
  const [pod] = (await durablePods()).filter((name) => !before.includes(name))
  const node = await nodeOf(pod!)
  const running = client!.run(
    "for number in range(100):\n    await mcp_ledger.add_line(text=str(number))\n    await asyncio.sleep(0.02)\n'over'",
    { session },
  )
  await until(() => lines().length > 5)
  await cutOff(node)
  await sleep(20_000)
  await reconnect(node)
  expect(await running).toBe("'over'")
  expect(lines()).toEqual(Array.from({ length: 100 }, (_, number) => String(number)))
  expect(await client!.run("'still here'", { session })).toBe("'still here'")
})
