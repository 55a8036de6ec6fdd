// Says in words why a start or a call failed. Every text that an upstream wrote is redacted here before it enters an error.
// No error made here carries its cause: Node's and the MCP package's own errors quote commands, URLs and what the server wrote.
import { BridgeError } from '../errors.ts'
import type { Redactor } from './redact.ts'
import type { ProcessExit } from './stdio-transport.ts'
import { MESSAGE_TOO_LONG } from './stdio-transport.ts'

/** How much of a server's last words an error carries. */
const SHOWN_CHARS = 4096

/** What is known about the process or the connection that failed. */
export interface Circumstances {
  server: string
  redact: Redactor
  exit?: ProcessExit | undefined
  /** As written by the server, not redacted. */
  lastWords?: string
}

/** @param timeoutMs the start timeout, for the message. */
export function startFailure(error: unknown, about: Circumstances, timeoutMs: number): BridgeError {
  if (BridgeError.isInstance(error)) return error
  const words = lastWords(about)
  if (isTimeout(error)) {
    const hint = 'It may be downloading what it needs: try again in a moment.'
    const what = `did not answer within ${timeoutMs / 1000} s of its start`
    return new BridgeError('UPSTREAM_TIMEOUT', `Server '${about.server}' ${what}.${words}`, { hint })
  }
  // Tells the caller that the server is alive and may know another era.
  const data = { refused: rpcErrorOf(error) !== undefined }
  const why = about.exit ? `it ${describeExit(about.exit)} before it answered` : reasonOf(error, about)
  return new BridgeError('UPSTREAM_UNREACHABLE', `Server '${about.server}' could not be started: ${why}.${words}`, {
    data,
  })
}

/** @param what the call as words, such as "the call of 'echo'". */
export function callFailure(error: unknown, what: string, about: Circumstances, tool?: string): BridgeError {
  if (BridgeError.isInstance(error)) return error
  const server = about.server
  const rpc = rpcErrorOf(error)
  if (rpc?.code === MESSAGE_TOO_LONG) {
    const message = `Server '${server}' answered ${what} with ${rpc.message}`
    return new BridgeError('FRAME_TOO_LARGE', message)
  }
  if (rpc) {
    const text = about.redact(rpc.message)
    const data = { server, ...(tool !== undefined && { tool }), content: [{ type: 'text', text }], rpcCode: rpc.code }
    return new BridgeError('TOOL_FAILED', `Server '${server}' refused ${what}: ${text} (${rpc.code})`, { data })
  }
  if (isTimeout(error)) {
    return new BridgeError('UPSTREAM_TIMEOUT', `Server '${server}' did not answer ${what} in time`)
  }
  if (sdkCodeOf(error) === 'INVALID_RESULT' || sdkCodeOf(error) === 'UNSUPPORTED_RESULT_TYPE') {
    const why = about.redact(messageLine(error))
    return new BridgeError('UPSTREAM_PROTOCOL', `Server '${server}' answered ${what} with nonsense: ${why}`)
  }
  const ended = about.exit ? describeExit(about.exit) : 'lost its connection'
  const message = `Server '${server}' ${ended} during ${what}; whether it took effect is unknown.${lastWords(about)}`
  return new BridgeError('UPSTREAM_UNREACHABLE', message)
}

/** True when the server answered with a JSON-RPC error rather than failing on the way. */
export function rpcErrorOf(error: unknown): { code: number; message: string } | undefined {
  if (!(error instanceof Error)) return undefined
  const code = (error as { code?: unknown }).code
  return typeof code === 'number' ? { code, message: error.message } : undefined
}

function describeExit({ code, signal }: ProcessExit): string {
  return signal === null ? `exited with code ${code}` : `was ended by ${signal}`
}

function lastWords({ lastWords: words, redact }: Circumstances): string {
  if (!words) return ''
  const shown = redact(words).slice(-SHOWN_CHARS).trim()
  return ` Its last words: ${shown}`
}

/** A reason for a failed start that holds nothing of the command: Node's own messages quote it. */
function reasonOf(error: unknown, about: Circumstances): string {
  switch ((error as NodeJS.ErrnoException | undefined)?.code) {
    case 'ENOENT':
      return 'its command was not found'
    case 'EACCES':
    case 'EPERM':
      return 'its command may not be executed'
    case 'ENOTDIR':
      return 'its working directory does not exist'
    case 'EMFILE':
    case 'ENFILE':
    case 'EAGAIN':
      return 'this machine is out of processes or file descriptors'
    case 'ERR_INVALID_ARG_VALUE':
    case 'ERR_INVALID_ARG_TYPE':
      return 'its definition holds a character that no command can have'
  }
  const rpc = rpcErrorOf(error)
  if (rpc) return `it refused to initialize: ${about.redact(rpc.message)} (${rpc.code})`
  return about.redact(messageLine(error))
}

function messageLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 500)
}

function isTimeout(error: unknown): boolean {
  return sdkCodeOf(error) === 'REQUEST_TIMEOUT'
}

function sdkCodeOf(error: unknown): unknown {
  return error instanceof Error ? (error as { code?: unknown }).code : undefined
}
