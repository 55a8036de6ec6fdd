// The real cluster in SANDBRIDGE_TEST_KUBECONFIG, if set (`npm run cluster -- up` makes one): its current context
// `bridge` has the rights of a bridge in a namespace, and `admin` has all rights. Its nodes have NODE_IMAGE.
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { isRecord } from '../../../core/src/util/json/json.ts'
import { ApiClient } from '../../src/api/api-client.ts'
import { ApiError } from '../../src/api/api-errors.ts'
import { Cluster } from '../../src/cluster.ts'
import { CredentialSource } from '../../src/api/credentials.ts'
import { findCluster } from '../../src/api/kubeconfig.ts'
import { type PodProviderOptions, KubernetesProvider } from '../../src/provider.ts'
import type { Provider } from '../../../core/src/isolation/provider.ts'
import { NODE_IMAGE } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { KUBERNETES } from './tested-providers.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'

const SCRIPT = path.join(import.meta.dirname, '../../cluster/cluster.sh')

export const REAL_KUBECONFIG = await findKubeconfig()
export const NO_CLUSTER = 'SANDBRIDGE_TEST_KUBECONFIG names no real cluster'

/**
 * Where a cluster is required (SANDBRIDGE_TEST_CLUSTER=1), the first test file that needs it starts it. The job that
 * set the variable stops it.
 */
async function findKubeconfig(): Promise<string | undefined> {
  if (!process.env['SANDBRIDGE_TEST_CLUSTER']) return process.env['SANDBRIDGE_TEST_KUBECONFIG']
  const kubeconfig = (await ran(SCRIPT, 'kubeconfig')).trim()
  if (!existsSync(kubeconfig)) await ran(SCRIPT, 'up')
  return kubeconfig
}

async function ran(program: string, ...args: string[]): Promise<string> {
  const kubeconfig = process.env['SANDBRIDGE_TEST_KUBECONFIG']
  const folder = kubeconfig === undefined ? {} : { SANDBRIDGE_CLUSTER_DIR: path.join(path.dirname(kubeconfig), '..') }
  const { code, stdout, stderr } = await runProgram(program, args, {
    ...(process.env as Record<string, string>),
    ...folder,
  })
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`)
  return stdout
}

/** Settings of a bridge whose cells are pods of this cluster, which enforces no network policies. */
export const REAL_ENV = {
  MCP_BRIDGE_RUNTIME: 'kubernetes',
  MCP_BRIDGE_IMAGE: NODE_IMAGE,
  MCP_BRIDGE_KUBERNETES: 'network=unchecked',
  KUBECONFIG: REAL_KUBECONFIG ?? '',
}

/** Pods of the real cluster. Without one, the provider cannot be prepared. */
export function realPods(more: Partial<PodProviderOptions> = {}): Provider {
  if (REAL_KUBECONFIG !== undefined) process.env['KUBECONFIG'] = REAL_KUBECONFIG
  const pods = new KubernetesProvider({ ...KUBERNETES, image: NODE_IMAGE, ...more })
  return {
    name: 'kubernetes',
    startsAtOnce: pods.startsAtOnce,
    prepare: async () => {
      if (REAL_KUBECONFIG === undefined) throw new Error(NO_CLUSTER)
      await pods.prepare()
    },
    start: (limits) => pods.start(limits),
  }
}

/** The same namespace with all rights. */
export async function asAdmin({ patienceMs }: { patienceMs?: number } = {}): Promise<Cluster> {
  const access = await findCluster({ env: { KUBECONFIG: REAL_KUBECONFIG }, home: homedir(), context: 'admin' })
  return new Cluster(new ApiClient(access.server, new CredentialSource(access), patienceMs), 'admin', access.namespace)
}

export function skipWithoutCluster(): void {
  if (REAL_KUBECONFIG === undefined) skip(NO_CLUSTER)
}

/** Lets bridges create Secrets, as servers in pods need; packages/kubernetes/deploy/kubernetes does not grant that. */
export async function grantSecrets(): Promise<void> {
  const { client, namespace } = await asAdmin()
  const group = 'rbac.authorization.k8s.io'
  const make = (kind: string, more: object) => {
    const body = { apiVersion: `${group}/v1`, kind, metadata: { name: 'servers-in-pods' }, ...more }
    const where = `/apis/${group}/v1/namespaces/${namespace}/${kind.toLowerCase()}s`
    return client.request({ method: 'POST', path: where, body }).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error
    })
  }
  await make('Role', { rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['create'] }] })
  await make('RoleBinding', {
    roleRef: { apiGroup: group, kind: 'Role', name: 'servers-in-pods' },
    subjects: [{ kind: 'ServiceAccount', name: 'sandbridge', namespace }],
  })
}

// ---- what only a cluster of scripts/cluster can be made to do

const CONTROL = path.join(path.dirname(REAL_KUBECONFIG ?? '/'), 'control')
const AWAY = path.join(CONTROL, 'away')

export function skipWithoutOwnCluster(): void {
  skipWithoutCluster()
  if (!existsSync(CONTROL)) skip('only a cluster of `npm run cluster` does what this test needs')
}

/** Makes an image of docker available to its pods. */
export async function loadImage(image: string): Promise<void> {
  await ran(SCRIPT, 'load', image)
}

/** Kills the API server. It stays down until it is started again or the test has ended. */
export async function stopApiServer(): Promise<void> {
  writeFileSync(AWAY, '')
  onTestFinished(startApiServer)
  while (await isReady()) await sleep(100)
}

export async function startApiServer(): Promise<void> {
  rmSync(AWAY, { force: true })
  while (!(await isReady())) await sleep(100)
}

async function isReady(): Promise<boolean> {
  const { client } = await asAdmin({ patienceMs: 0 })
  return client.request({ method: 'GET', path: '/api/v1/namespaces' }).then(
    () => true,
    () => false,
  )
}

/** The node of a pod. */
export async function nodeOf(pod: string): Promise<string> {
  const cluster = await asAdmin()
  const object = await cluster.client.request({ method: 'GET', path: cluster.path('pods', pod) })
  const spec = isRecord(object) && isRecord(object['spec']) ? object['spec'] : {}
  return String(spec['nodeName'])
}

/** Disconnects the node from everything until it is connected again or the test has ended. */
export async function cutOff(node: string): Promise<void> {
  onTestFinished(() => reconnect(node))
  await ran('ip', 'link', 'set', linkOf(node), 'down')
}

export async function reconnect(node: string): Promise<void> {
  await ran('ip', 'link', 'set', linkOf(node), 'up')
}

/** The link on this machine, as named by packages/kubernetes/cluster/up.sh. */
function linkOf(node: string): string {
  return node.replace('node-', 'sbk8s-')
}
