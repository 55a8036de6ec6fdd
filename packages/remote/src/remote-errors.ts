// What errors of requests to remote servers mean.
import { BridgeError } from '@sandbridge/core/errors.ts'
import { bodyOf, REMOTE_HINT, sessionAfter, statusOf, withQuotedTail } from '@sandbridge/core/upstream/failures'
import { withSaid, wordsOf } from '@sandbridge/core/upstream/failures'
import type { Circumstances, Failure, RemoteErrors } from '@sandbridge/core/upstream/failures'
import { BodyRefusedError } from './bounded-body.ts'
import { loginNeeded } from './login-failure.ts'
import { wordsIn } from './read-response.ts'
import { hadNoEffect, redirectIn, remoteReason, retryAfterOf, wasReached } from './remote-failure.ts'

/** @param unauthorized returns the body of the latest response that required authentication */
export function remoteErrors(unauthorized: () => string): RemoteErrors {
  return {
    reasonOf: remoteReason,
    saidIn: (error) => [redirectIn(error), wordsIn(bodyOf(error))].filter(Boolean).join(': '),
    retryAfterOf,
    wasReached,
    loginNeeded: (error, about) => loginNeeded(error, about, () => wordsIn(bodyOf(error) || unauthorized())),
    requestFailure,
  }
}

function requestFailure(error: unknown, what: string, about: Circumstances, effect: string): Failure {
  const { server } = about
  if (error instanceof BodyRefusedError) {
    return { error: new BridgeError('FRAME_TOO_LARGE', `Server '${server}' answered ${what} with ${error.message}`) }
  }
  const status = statusOf(error)
  const { code } = error as { code?: unknown }
  // A response is about this request: one tool that fails must not pause a server that others use.
  const answered = status !== undefined && wasReached(error)
  const unknown = hadNoEffect(error) ? '' : effect
  const why = withQuotedTail(withSaid(remoteReason(error) ?? wordsOf(error, about), error, about), about)
  const text = `Server '${server}' failed during ${what}${unknown}: ${why}`
  const isRefusal = status !== undefined && status >= 400 && status < 500 && status !== 429
  const hint = isRefusal ? 'Correct the call, or ask the user to check the server.' : REMOTE_HINT
  return {
    error: new BridgeError('UPSTREAM_UNREACHABLE', text, { hint }),
    session: sessionAfter(error),
    answered,
    // Either the bridge closed the connection, or the next handshake shows whether the server is down.
    isOutage: !answered && code !== 'CONNECTION_CLOSED',
    retryAfterMs: retryAfterOf(error),
  }
}
