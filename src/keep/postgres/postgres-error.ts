// Converts errors of PostgreSQL and its driver: detects temporary ones, and removes passwords from messages.
import { BridgeError } from '../../errors.ts'

/** SQLSTATEs of a server that stops, starts or has no free connection, and of conflicts between two writers. */
const PASSING_STATE = /^(08...|57P0[1-3]|53300|25P03|40001|40P01)$/
/** Socket errors. A missing socket file means that the server is not running. */
const PASSING_CODE = /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN)$/
/** The driver's own errors have no code. */
const PASSING_TEXT =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered)/
/** A password that is wrong, or missing: the driver reports that in its own words. */
const PASSWORD_STATE = '28P01'
const PASSWORD_TEXT = /client password must be/
const MAX_REASON_CHARS = 300

/** True if a retry may succeed: the server may be restarting, or the network may return. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = codeOf(error)
  return code === undefined ? PASSING_TEXT.test(error.message) : PASSING_STATE.test(code) || PASSING_CODE.test(code)
}

/** True for errors of the driver or the server, false for the caller's own. */
export function isOfDriver(error: unknown): boolean {
  return isPassing(error) || (error instanceof Error && 'severity' in error)
}

/** @param secrets texts that the message must not contain */
export function postgresError(error: unknown, secrets: readonly string[]): BridgeError {
  if (BridgeError.isInstance(error)) return error
  const code = error instanceof Error ? codeOf(error) : undefined
  const what = isPassing(error) ? 'PostgreSQL cannot be reached' : 'PostgreSQL refused what the bridge wanted to do'
  let reason = error instanceof Error ? error.message : String(error)
  for (const secret of secrets) reason = reason.replaceAll(secret, '…')
  const text = [code, reason.replaceAll(/\s+/g, ' ').slice(0, MAX_REASON_CHARS)].filter(Boolean).join(': ')
  // Without the cause: the driver's errors contain the query's data.
  const isPassword = code === PASSWORD_STATE || PASSWORD_TEXT.test(reason)
  return new BridgeError('STATE_UNWRITABLE', `${what} (${text})`, {
    hint: isPassword
      ? 'Put the password in the URL of MCP_BRIDGE_STORAGE, in PGPASSWORD or in ~/.pgpass, and start the bridge again.'
      : 'Check the database of MCP_BRIDGE_STORAGE, then retry. A bridge that runs reconnects by itself.',
  })
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
