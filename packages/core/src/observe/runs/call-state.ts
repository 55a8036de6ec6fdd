// Whether a call reached its server, and was answered. Pure.
import type { CallState } from './run.ts'

/** Errors that are the server's own answer. */
const ANSWERED = /^TOOL_FAILED$/
/** Errors of calls that were never sent, or that the server did not carry out before the user has signed in. */
const UNSENT = /^(UPSTREAM_(AUTH|LINK)_REQUIRED|UPSTREAM_JAIL_|PERMISSION_|PROXY_|STATE_UNWRITABLE|QUOTA_)/

/** @param code of the error that the call ended with; undefined for a result, also one that is marked as an error */
export function stateAfter(code: string | undefined): CallState {
  if (code === undefined || ANSWERED.test(code)) return 'answered'
  return UNSENT.test(code) ? 'unsent' : 'unknown'
}
