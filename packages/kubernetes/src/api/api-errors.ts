// Errors of an API server, and their meaning for a sandbox. Pure.
import { BridgeError, type ErrorCode } from '@sandbridge/core/errors.ts'
import { fieldsOf } from '@sandbridge/core/util/json/json.ts'
import { oneLine } from '@sandbridge/core/util/text'

const MAX_MESSAGE_CHARS = 400

/** An error response. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** Reason code, such as `AlreadyExists`. */
  readonly reason: string

  constructor(status: number, body: unknown) {
    const { message, reason } = fieldsOf(body)
    super(oneLine(message, MAX_MESSAGE_CHARS) || `status ${status}`)
    this.status = status
    this.reason = typeof reason === 'string' ? reason : ''
  }
}

/** No response: the connection failed or was silent for too long. */
export class ApiUnreachable extends Error {
  override readonly name = 'ApiUnreachable'
}

/** What a request asked for. */
export interface Asked {
  verb: 'create' | 'get' | 'list' | 'watch' | 'delete' | 'patch'
  /** As RBAC names it, such as `pods/attach`. */
  resource: string
  namespace: string
}

/** Converts an error of the cluster to the bridge's own. @param cluster name of the cluster in messages */
export function clusterError(error: unknown, cluster: string, asked: Asked): BridgeError {
  if (BridgeError.isInstance(error)) return error
  const { code, message, hint } = explain(error, cluster, asked)
  return new BridgeError(code, message, { hint, cause: error })
}

interface Explained {
  code: ErrorCode
  message: string
  hint: string
}

const LATER = 'Retry later. `kubectl get pods` says whether the cluster answers.'

function explain(error: unknown, cluster: string, { verb, resource, namespace }: Asked): Explained {
  if (!(error instanceof ApiError)) {
    const reason = error instanceof Error ? oneLine(error.message, MAX_MESSAGE_CHARS) : String(error)
    const message = `The API server of ${cluster} cannot be reached: ${reason}.`
    return { code: 'SANDBOX_ENGINE_MISSING', message, hint: LATER }
  }
  const { status, message } = error
  if (status === 403 && message.includes('exceeded quota')) {
    const text = `Namespace ${namespace} has no quota left for another sandbox: ${message}`
    return { code: 'SANDBOX_BUSY', message: text, hint: 'Retry when another sandbox has ended, or raise the quota.' }
  }
  if (status === 401) {
    const text = `${cluster} does not accept the bridge's credentials (401).`
    return { code: 'SANDBOX_ENGINE_MISSING', message: text, hint: 'Sign in again, so that `kubectl get pods` works.' }
  }
  if (isMissingRight(error)) {
    const text = `${cluster} does not let the bridge ${verb} ${resource} in namespace ${namespace}: ${message}`
    const hint = `Grant the verb '${verb}' on '${resource}': docs/kubernetes.md has the whole role.`
    return { code: 'SANDBOX_ENGINE_MISSING', message: text, hint }
  }
  if (status === 404 && /namespaces? /.test(message)) {
    const hint = 'Create the namespace, or set MCP_BRIDGE_KUBERNETES=namespace=NAME.'
    return { code: 'SANDBOX_ENGINE_MISSING', message: `${cluster} has no namespace ${namespace}.`, hint }
  }
  if (status === 429) {
    const text = `The API server of ${cluster} is overloaded (429): ${message}`
    return { code: 'SANDBOX_BUSY', message: text, hint: 'Retry later.' }
  }
  if (status >= 500) {
    const text = `The API server of ${cluster} failed with ${status}: ${message}`
    return { code: 'SANDBOX_START_FAILED', message: text, hint: LATER }
  }
  // A policy of the cluster, such as Pod Security or a webhook, or an invalid pod.
  const text = `${cluster} refused to ${verb} ${resource} in namespace ${namespace} (${status}): ${message}`
  return { code: 'SANDBOX_START_FAILED', message: text, hint: 'Ask the administrator of the cluster. ' + SEE_DOCS }
}

const SEE_DOCS = 'docs/kubernetes.md describes the pods that the bridge makes.'

/**
 * Pod Security and webhooks refuse with the same status. Newer clusters report a missing right to create `pods/attach`
 * with only this short text.
 */
function isMissingRight({ status, message }: ApiError): boolean {
  return status === 403 && /User ".*" cannot \w+ resource|is forbidden: *$/.test(message)
}
