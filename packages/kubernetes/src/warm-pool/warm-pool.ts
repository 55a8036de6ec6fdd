// Takes a pod from a warm pool of the cluster (kubernetes-sigs/agent-sandbox) instead of creating one: creates a
// SandboxClaim, and its controller assigns a pod. Later steps are the same for both.
import { setTimeout as sleep } from 'node:timers/promises'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { ApiError } from '../api/api-errors.ts'
import type { Cluster } from '../cluster.ts'
import { imageOf, poolPodProblems } from './pool-pod.ts'
import { type PodState, readPod } from '../pod/pod-state.ts'
import { claimManifest, type ClaimStatus, readClaimStatus } from './sandbox-claim.ts'

export interface TakenPod {
  state: PodState
  image: string
}

interface TakeOptions {
  /** Name for the new claim. */
  name: string
  pool: string
  timeoutMs: number
}

/** A waiting pod is assigned within 100 ms; an empty pool takes seconds. */
const FIRST_PAUSE_MS = 30
const MAX_PAUSE_MS = 500
/** Waiting does not help against these. */
const NOT_THERE = ['WarmPoolNotFound', 'TemplateNotFound']
const SEE_DOCS = 'docs/kubernetes.md, "A warm pool of the cluster", has what is needed.'

/**
 * @throws BridgeError CONFIG_INVALID for a missing or unsuitable pool, SANDBOX_BUSY if it provides no pod in time, and
 * errors of the cluster
 */
export async function takePod(cluster: Cluster, { name, pool, timeoutMs }: TakeOptions): Promise<TakenPod> {
  try {
    await cluster.create('sandboxclaims', claimManifest(name, pool))
    const object = await boundPod(cluster, { name, pool, timeoutMs })
    const problems = poolPodProblems(object)
    if (problems.length > 0) {
      throw new BridgeError('CONFIG_INVALID', `The pods of the warm pool '${pool}' need ${problems.join('; ')}.`, {
        hint: `Use the template of packages/kubernetes/deploy/agent-sandbox. ${SEE_DOCS}`,
      })
    }
    return { state: readPod(object)!, image: imageOf(object) }
  } catch (error) {
    void cluster.deleteSandboxClaim(name).catch(() => {})
    if (error instanceof ApiError && error.status === 404 && !/namespaces? /.test(error.message))
      throw noClaims(cluster, error)
    throw cluster.explain(error, { verb: 'create', resource: 'sandboxclaims' })
  }
}

/** Returns the pod's object once one is assigned. */
async function boundPod(cluster: Cluster, { name, pool, timeoutMs }: TakeOptions): Promise<unknown> {
  let pauseMs = FIRST_PAUSE_MS
  for (const startedAt = performance.now(); ;) {
    const status = readClaimStatus(await cluster.get('sandboxclaims', name))
    const pod = status.pod === '' ? undefined : await cluster.get('pods', status.pod)
    if (readPod(pod)) return pod
    if (NOT_THERE.includes(status.reason)) throw notThere(cluster, status)
    if (performance.now() - startedAt > timeoutMs) throw noneInTime(pool, timeoutMs, status)
    await sleep(pauseMs)
    pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
  }
}

function notThere({ namespace }: Cluster, { message }: ClaimStatus): BridgeError {
  return new BridgeError('CONFIG_INVALID', `MCP_BRIDGE_KUBERNETES=warmPool: ${message} in namespace ${namespace}`, {
    hint: `Create it there, with \`kubectl apply --kustomize packages/kubernetes/deploy/agent-sandbox\`, or unset the setting. ${SEE_DOCS}`,
  })
}

function noneInTime(pool: string, timeoutMs: number, { reason, message }: ClaimStatus): BridgeError {
  const said = [reason, message].filter((text) => text !== '').join(': ') || 'its controller said nothing'
  const text = `The warm pool '${pool}' had no pod within ${Math.round(timeoutMs / 1000)} s (${said})`
  return new BridgeError('SANDBOX_BUSY', text, {
    hint: 'Retry later. If it stays so, ask the administrator whether the agent-sandbox controller runs, and raise `replicas` of the pool.',
  })
}

/** The kind of object does not exist. */
function noClaims({ namespace }: Cluster, cause: ApiError): BridgeError {
  const text = `The cluster knows no SandboxClaims in namespace ${namespace}, which MCP_BRIDGE_KUBERNETES=warmPool needs: ${cause.message}`
  return new BridgeError('CONFIG_INVALID', text, {
    hint: `Install agent-sandbox 1.0 or newer with its extensions, or unset the setting. ${SEE_DOCS}`,
    cause,
  })
}
