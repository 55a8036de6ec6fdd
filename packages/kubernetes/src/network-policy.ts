// Ensures that the namespace has the policy that cuts pods off from the network.
import { isDeepStrictEqual } from 'node:util'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { isRecord, itemsOf } from '@sandbridge/core/util/json/json.ts'
import type { Cluster } from './cluster.ts'
import { networkPolicyManifest, POLICY_NAME } from './pod/pod-manifest.ts'

/** @throws BridgeError if it cannot be created, or exists with other rules */
export async function ensureNetworkPolicy(cluster: Cluster): Promise<void> {
  const wanted = networkPolicyManifest()
  const resource = 'networkpolicies'
  if ((await cluster.explained('create', resource, () => cluster.create(resource, wanted))) === 'created') return
  const found = await cluster.explained('get', resource, () => cluster.get(resource, POLICY_NAME))
  if (isRecord(found) && deniesAll(found['spec'], wanted.spec)) return
  const text = `The NetworkPolicy ${POLICY_NAME} in namespace ${cluster.namespace} does not cut pods off from the network`
  throw new BridgeError('SANDBOX_ENGINE_MISSING', `${text}.`, { hint: 'Delete it. The bridge then makes it anew.' })
}

/** Empty lists of rules mean the same as missing ones. */
function deniesAll(spec: unknown, wanted: { podSelector: object; policyTypes: string[] }): boolean {
  if (!isRecord(spec)) return false
  const { podSelector, policyTypes, ingress = [], egress = [] } = spec
  return (
    isDeepStrictEqual(podSelector, wanted.podSelector) &&
    isDeepStrictEqual(new Set(itemsOf(policyTypes)), new Set(wanted.policyTypes)) &&
    isDeepStrictEqual([ingress, egress], [[], []])
  )
}
