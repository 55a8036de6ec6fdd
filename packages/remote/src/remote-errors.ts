// What errors of requests to remote servers mean.
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Circumstances, Failure, RemoteErrors } from '@sandbridge/core/upstream/failures/circumstances.ts'
import { REMOTE_HINT, UNSURE, withQuotedTail, wordsOf } from '@sandbridge/core/upstream/failures/failures.ts'
import { isSessionLost, statusOf } from '@sandbridge/core/upstream/failures/http-status.ts'
import { BodyRefusedError } from './bounded-body.ts'
import { loginNeeded } from './login-failure.ts'
import { hadNoEffect, remoteReason, retryAfterOf, wasReached } from './remote-failure.ts'

export const remoteErrors: RemoteErrors = {
  reasonOf: remoteReason,
  retryAfterOf,
  wasReached,
  loginNeeded,
  requestFailure,
}

function requestFailure(error: unknown, what: string, about: Circumstances): Failure {
  const { server } = about
  if (error instanceof BodyRefusedError) {
    return { error: new BridgeError('FRAME_TOO_LARGE', `Server '${server}' answered ${what} with ${error.message}`) }
  }
  const status = statusOf(error)
  const isRefusal = status !== undefined && status >= 300 && status < 500 && status !== 429
  const { code } = error as { code?: unknown }
  // A response is about this request: one tool that fails must not pause a server that others use.
  const answered = (status !== undefined || code === 'CLIENT_HTTP_UNEXPECTED_CONTENT') && wasReached(error)
  const unknown = hadNoEffect(error) ? '' : UNSURE
  const why = withQuotedTail(remoteReason(error) ?? wordsOf(error, about), about)
  const text = `Server '${server}' failed during ${what}${unknown}: ${why}`
  const hint = isRefusal ? 'The server refuses only this request. Other requests may work.' : REMOTE_HINT
  return {
    error: new BridgeError('UPSTREAM_UNREACHABLE', text, { hint }),
    sessionLost: isSessionLost(error),
    answered,
    // Either the bridge closed the connection, or the next handshake shows whether the server is down.
    isOutage: !answered && code !== 'CONNECTION_CLOSED',
    retryAfterMs: retryAfterOf(error),
  }
}
