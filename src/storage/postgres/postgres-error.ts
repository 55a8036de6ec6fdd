// What PostgreSQL and its driver say, as errors of the bridge: which of them pass by themselves, and words that hold no password.
import { BridgeError } from '../../errors.ts'

/** SQLSTATEs of a server that ends, starts or has no room for one more connection, and of two writers that must take turns. */
const PASSING_STATE = /^(08...|57P0[1-3]|53300|25P03|40001|40P01)$/
/** Of sockets. A missing socket file is a server that is not up. */
const PASSING_CODE = /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN)$/
/** The driver's own errors have no code. */
const PASSING_TEXT =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered)/
const MAX_REASON_CHARS = 300

/** The server may be starting again, or the network be back soon. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = codeOf(error)
  return code === undefined ? PASSING_TEXT.test(error.message) : PASSING_STATE.test(code) || PASSING_CODE.test(code)
}

/** Not the caller's own error: the driver's, or the server's. */
export function isOfDriver(error: unknown): boolean {
  return isPassing(error) || (error instanceof Error && 'severity' in error)
}

/** @param secrets what a message must not repeat */
export function postgresError(error: unknown, secrets: readonly string[]): BridgeError {
  if (BridgeError.isInstance(error)) return error
  const code = error instanceof Error ? codeOf(error) : undefined
  const what = isPassing(error) ? 'PostgreSQL cannot be reached' : 'PostgreSQL refused what the bridge wanted to do'
  let reason = error instanceof Error ? error.message : String(error)
  for (const secret of secrets) reason = reason.replaceAll(secret, '…')
  const text = [code, reason.replaceAll(/\s+/g, ' ').slice(0, MAX_REASON_CHARS)].filter(Boolean).join(': ')
  // The cause is left out: the driver's errors hold what was sent.
  return new BridgeError('STATE_UNWRITABLE', `${what} (${text})`, {
    hint: 'Check the database of MCP_BRIDGE_STORAGE, then retry. A bridge that runs reconnects by itself.',
  })
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
