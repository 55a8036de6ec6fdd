// @module-tag whole: it needs a real cluster
// Servers in pods of a real cluster, if there is one.
import { beforeAll } from 'vitest'
import { NODE_IMAGE } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import type { Manifest } from '../support/fake-cluster/manifest.ts'
import type { Secret } from '../support/fake-cluster/secrets.ts'
import { asAdmin, grantSecrets, REAL_ENV, REAL_KUBECONFIG, skipWithoutCluster } from '../support/real-cluster.ts'
import { testServersInPods } from './servers-in-pods.ts'

beforeAll(async () => {
  if (REAL_KUBECONFIG !== undefined) await grantSecrets()
})

testServersInPods({
  env: REAL_ENV,
  image: NODE_IMAGE,
  skipWithout: skipWithoutCluster,
  serverPods: async () => {
    const pods = (await (await asAdmin()).listPods('sandbridge/role=server')) as Manifest[]
    return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  },
  secrets: async () => {
    const { client, path } = await secretsOf()
    const query = { labelSelector: 'app.kubernetes.io/managed-by=sandbridge' }
    const { items } = (await client.request({ method: 'GET', path, query })) as { items: Secret[] }
    return items
  },
  end: async (name) => (await asAdmin()).deletePod(name, 1),
  ended: 'was ended with its pod',
  isRunning: async (name) => {
    const pod = await (await asAdmin()).getPod(name)
    return pod !== 'gone' && pod.isRunning
  },
  remove: async (name) => (await asAdmin()).deletePod(name, 0),
})

async function secretsOf() {
  const cluster = await asAdmin()
  return { client: cluster.client, path: cluster.path('secrets') }
}
