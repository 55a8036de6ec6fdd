// Describes in one sentence whether a cluster can be used. Sends requests but creates nothing.
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import type { DescribedCluster } from '@sandbridge/core/parts'
import { fieldsOf } from '@sandbridge/core/util/json/json.ts'
import type { Asked } from './api/api-errors.ts'
import type { Cluster } from './cluster.ts'
import { openCluster } from './open-cluster.ts'

/**
 * All permissions that the bridge needs in its namespace. docs/kubernetes.md and the role in deploy/ grant exactly
 * these.
 */
export const USED_VERBS: readonly { group: string; resource: string; verbs: Asked['verb'][] }[] = [
  { group: '', resource: 'pods', verbs: ['create', 'get', 'list', 'watch', 'delete', 'patch'] },
  // A WebSocket begins as a GET. Since Kubernetes 1.35 it also needs the right to create.
  { group: '', resource: 'pods/attach', verbs: ['get', 'create'] },
  { group: 'networking.k8s.io', resource: 'networkpolicies', verbs: ['create', 'get'] },
]

/** Additional permissions if servers run in pods. The bridge reads no Secrets. */
export const USED_FOR_SERVERS: typeof USED_VERBS = [{ group: '', resource: 'secrets', verbs: ['create'] }]

/** Short, because a person waits at a terminal. */
const PATIENCE_MS = 3_000

/** @param chosen the cluster in the settings */
export async function describeCluster({
  isDurable = false,
  ...chosen
}: DescribedCluster): Promise<{ usable: boolean; verdict: string }> {
  try {
    const { hasServers, ...choice } = chosen
    const { access, cluster } = await openCluster(choice, PATIENCE_MS)
    const version = await askVersion(cluster)
    const used = [...USED_VERBS, ...(hasServers ? USED_FOR_SERVERS : [])]
    const missing = await missingVerbs(cluster, used, isDurable)
    const where = `${access.name}, ${access.server.host}, Kubernetes ${version}, namespace ${access.namespace}`
    if (missing.length === 0) return { usable: true, verdict: where }
    return { usable: false, verdict: `${where}; this user may not ${missing.join(', ')}: see docs/kubernetes.md` }
  } catch (error) {
    const hint = BridgeError.isInstance(error) ? ` ${error.hint}` : ''
    return { usable: false, verdict: `${messageOf(error)}${hint}` }
  }
}

async function askVersion(cluster: Cluster): Promise<string> {
  const ask = () => cluster.client.request({ method: 'GET', path: '/version' })
  const { gitVersion } = fieldsOf(await cluster.explained('get', 'version', ask))
  return typeof gitVersion === 'string' ? gitVersion : 'of an unknown version'
}

/** Returns the permissions that are missing according to the cluster. Every user may ask about their own. */
async function missingVerbs(cluster: Cluster, needed: typeof USED_VERBS, isDurable: boolean): Promise<string[]> {
  const asked = needed.flatMap(({ group, resource, verbs }) =>
    // Only pods that outlive their bridge are changed after their creation.
    verbs.filter((verb) => isDurable || verb !== 'patch').map((verb) => ({ group, resource, verb })),
  )
  const allowed = await Promise.all(asked.map((one) => isAllowed(cluster, one)))
  return asked.filter((_, index) => !allowed[index]).map(({ verb, resource }) => `${verb} ${resource}`)
}

async function isAllowed(
  { client, namespace }: Cluster,
  { group, resource: name, verb }: { group: string; resource: string; verb: Asked['verb'] },
): Promise<boolean> {
  const [resource, subresource] = name.split('/')
  const resourceAttributes = { namespace, verb, group, resource, ...(subresource !== undefined && { subresource }) }
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  }
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  const review = await client.request({ method: 'POST', path, body })
  return fieldsOf(fieldsOf(review)['status'])['allowed'] === true
}
