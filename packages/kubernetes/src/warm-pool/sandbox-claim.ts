// SandboxClaims of kubernetes-sigs/agent-sandbox: its controller binds each claim to a pod of a warm pool. Pure.
// Source: extensions/api/v1beta1 of that project, as of release 1.0.
import { fieldsOf, itemsOf } from '@sandbridge/core/util/json/json.ts'
import { oneLine } from '@sandbridge/core/util/text'
import { MANAGED_BY } from '../pod/pod-manifest.ts'

export const CLAIM_GROUP = 'extensions.agents.x-k8s.io'
export const CLAIM_API = `${CLAIM_GROUP}/v1beta1`

/**
 * Expiry of a sandbox that was never released: the longest life of the bridge's own pods, and a while after it has
 * ended.
 */
const EXPIRES_MS = 24 * 60 * 60_000
const FINISHED_FOR_S = 15 * 60
const MAX_MESSAGE_CHARS = 400

export function claimManifest(name: string, pool: string, now = Date.now()) {
  return {
    apiVersion: CLAIM_API,
    kind: 'SandboxClaim',
    metadata: { name, labels: MANAGED_BY },
    spec: {
      warmPoolRef: { name: pool },
      lifecycle: {
        // Without milliseconds, as in the API's format.
        shutdownTime: new Date(now + EXPIRES_MS).toISOString().replace(/\.\d+/, ''),
        ttlSecondsAfterFinished: FINISHED_FOR_S,
        // By default, the claim would be kept.
        shutdownPolicy: 'Delete',
      },
    },
  }
}

export interface ClaimStatus {
  /** The name of the sandbox and its pod; empty while there is none. */
  pod: string
  /** Why it is not ready: a code such as `WarmPoolNotFound`, and a message. */
  reason: string
  message: string
}

export function readClaimStatus(claim: unknown): ClaimStatus {
  const { sandbox, conditions } = fieldsOf(fieldsOf(claim)['status'])
  const { name } = fieldsOf(sandbox)
  const ready = itemsOf(conditions)
    .map(fieldsOf)
    .find(({ type }) => type === 'Ready')
  const { reason, message } = ready && ready['status'] !== 'True' ? ready : {}
  return {
    pod: typeof name === 'string' ? name : '',
    reason: oneLine(reason, MAX_MESSAGE_CHARS),
    message: oneLine(message, MAX_MESSAGE_CHARS),
  }
}
