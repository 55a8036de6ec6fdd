// @module-tag whole: it needs a real cluster
// This file verifies pods of a warm pool on a real cluster, if there is one: its API server takes the claims, with the
// rights that packages/kubernetes/deploy/agent-sandbox grants. A stand-in plays the controller of agent-sandbox.
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { ApiError } from '../../src/api/api-errors.ts'
import type { Cluster } from '../../src/cluster.ts'
import { CLAIM_GROUP } from '../../src/warm-pool/sandbox-claim.ts'
import { AgentSandbox, POOL, templatePod } from '../support/agent-sandbox.ts'
import { published } from '@sandbridge/core/test/support/bridge-process.ts'
import { NODE_IMAGE } from '@sandbridge/core/test/support/engines.ts'
import { baseObjects, WARM_POOL_BASE } from '../support/manifests.ts'
import { until } from '@sandbridge/core/test/support/processes.ts'
import { asAdmin, REAL_ENV, skipWithoutCluster } from '../support/real-cluster.ts'
import { startBridge } from '@sandbridge/core/test/support/start-bridge.ts'

beforeEach(skipWithoutCluster)

const text = { type: 'string' }
/** The fields that the bridge uses, as in agent-sandbox. The cluster drops all others. */
const SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['warmPoolRef'],
      properties: {
        warmPoolRef: { type: 'object', required: ['name'], properties: { name: text } },
        lifecycle: {
          type: 'object',
          properties: {
            shutdownTime: { type: 'string', format: 'date-time' },
            ttlSecondsAfterFinished: { type: 'integer', format: 'int32', minimum: 0 },
            shutdownPolicy: { type: 'string', enum: ['Delete', 'DeleteForeground', 'Retain'], default: 'Retain' },
          },
        },
      },
    },
    status: {
      type: 'object',
      properties: {
        conditions: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        sandbox: { type: 'object', properties: { name: text } },
      },
    },
  },
}

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const CLAIMS = { singular: 'sandboxclaim', plural: 'sandboxclaims', kind: 'SandboxClaim' }

async function create(cluster: Cluster, path: string, body: object): Promise<void> {
  await cluster.client.request({ method: 'POST', path, body }).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error
  })
}

/** Installs claims, and lets a bridge create them. */
async function installClaims(cluster: Cluster): Promise<void> {
  await create(cluster, DEFINITIONS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `sandboxclaims.${CLAIM_GROUP}`,
      annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests' },
    },
    spec: {
      group: CLAIM_GROUP,
      names: CLAIMS,
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1beta1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: SCHEMA },
        },
      ],
    },
  })
  const areServed = () =>
    cluster.client.request({ method: 'GET', path: cluster.path('sandboxclaims') }).then(
      () => true,
      () => false,
    )
  await until(areServed)
  for (const resource of baseObjects(WARM_POOL_BASE)) {
    const { kind, metadata } = resource
    if (!['Role', 'RoleBinding'].includes(kind)) continue
    const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${metadata.namespace}/${kind.toLowerCase()}s`
    await create(cluster, path, resource)
  }
}

it('cells run in pods of a warm pool, which go with their claims', { timeout: 180_000 }, async () => {
  const cluster = await asAdmin()
  await installClaims(cluster)
  const pod = templatePod(({ spec }) => (spec.containers[0]!.image = NODE_IMAGE))
  const pool = new AgentSandbox(cluster, { pod })
  onTestFinished(() => pool.stop())
  await until(() => pool.waiting.length === 1)

  const env = { ...REAL_ENV, MCP_BRIDGE_KUBERNETES: `network=unchecked warmPool=${POOL}`, MCP_BRIDGE_POOL: '0' }
  const bridge = await startBridge({ servers: { everything: published.everything() }, env })
  expect(await bridge.run('x = 20\nx + 1')).toBe('21')
  expect(await bridge.run("(await mcp_everything.echo(message='from a pool'))")).toContain('Echo: from a pool')
  const endless = await bridge.call({ code: 'while True: pass', timeout: 1 })
  expect([endless.structured['status'], await bridge.run('x')]).toEqual(['timeout', '20'])

  const [claim, taken] = [...pool.bound][0]!
  // No field was dropped or added.
  expect(await cluster.get('sandboxclaims', claim)).toMatchObject({
    spec: {
      warmPoolRef: { name: POOL },
      lifecycle: {
        shutdownTime: expect.stringMatching(/Z$/) as string,
        ttlSecondsAfterFinished: 900,
        shutdownPolicy: 'Delete',
      },
    },
  })
  await bridge.client.close()
  await until(async () => {
    const state = await cluster.getPod(taken)
    return (await cluster.get('sandboxclaims', claim)) === undefined && (state === 'gone' || state.isDeleting)
  })
})
