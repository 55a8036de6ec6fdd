// Describes why a start or a call failed. Every text that an upstream wrote is redacted here before it enters an error.
// No error made here has a cause: errors of Node and of the MCP package quote commands, URLs and the server's output.
import { BridgeError, messageOf, type BridgeErrorOptions, type ErrorCode } from '../../errors.ts'
import { shellWord } from '../../config/secrets/command-line.ts'
import { redactStart } from '../../config/secrets/redact.ts'
import { plainText } from '../../util/text/terminal-text.ts'
import { UNREADABLE } from '../reading/lenient-message.ts'
import { readable } from '../reading/words.ts'
import { requiredPages, type RequiredPage, URL_ELICITATION_REQUIRED } from '../connection/required-pages.ts'
import { spawnFailure } from './spawn-failure.ts'
import { fieldsOf, mapTexts, parseJson } from '../../util/json/json.ts'
import { ANSWER_LOST, type Circumstances, type Failure } from './circumstances.ts'
import { causesOf, RpcRefusal, sessionAfter, statusOf } from './refusals.ts'
import type { ProcessExit } from '../stdio/server-process.ts'
import { MESSAGE_TOO_LONG } from '../stdio/stdio-transport.ts'

/** How much of a server's last output an error carries, in characters. */
const SHOWN_CHARS = 4096

/** How much of the data of an error is kept for code. */
const MAX_DATA_CHARS = 64 * 1024

/** Follows the name of a request whose outcome is unknown. */
export const UNSURE = ', which may or may not have taken effect'

/** What a server of only another transport returns (2025-11-25, transports, backwards compatibility), and 406, 415. */
const TRANSPORT_REFUSED: ReadonlySet<number | undefined> = new Set([400, 404, 405, 406, 415])

/** For a remote server, which has no process and no command here. */
export const REMOTE_HINT = 'The next use tries again.'

/** Thrown for a failed start: show `failure.error`. */
export class StartFailedError extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.error.message)
    this.failure = failure
  }
}

/** @param timeoutMs the start timeout, for the message. */
export function startFailure(error: unknown, about: Circumstances, timeoutMs: number): Failure {
  const failure = startFailureOf(error, about, timeoutMs)
  const { code } = failure.error
  return { ...failure, isOutage: code === 'UPSTREAM_UNREACHABLE' || code === 'UPSTREAM_TIMEOUT' }
}

function startFailureOf(error: unknown, about: Circumstances, timeoutMs: number): Failure {
  const own = ownError(error)
  if (own) return { error: own }
  const { server, remote, errors, command } = about
  const login = errors?.loginNeeded(error, about)
  if (login) return { error: login }
  const words = quotedTail(about)
  const log = fullLog(about)
  if (isTimeout(error)) {
    return { error: startTimeout(about, timeoutMs, words, log), ofProbe: isOfProbe(error, about) }
  }
  const spawned = remote ? undefined : spawnFailure(about.exit?.notStarted ?? error, about)
  if (spawned) return { error: spawned }
  const rpcCode = rpcErrorOf(error)?.code
  const why = about.exit ? `${command ? `\`${command}\`` : 'it'} ${describeExit(about.exit)}` : reasonOf(error, about)
  const failure = remote ? `could not be reached${command ? ` at ${command}` : ''}` : 'could not be started'
  const broken = about.exit && about.installation?.broken(about.stderrTail ?? '')
  if (broken) {
    const { text, remedy } = broken
    const options = { ...log, hint: `Ask the user to repair it: ${remedy}`, userHint: remedy }
    return { error: unreachable(`Server '${server}' ${failure}: ${why}.${words} ${text}`, options) }
  }
  const text = `Server '${server}' ${failure}: ${why}.${words}`
  // The event stream of an older server, which names an address that no client may send to.
  if (messageOf(error).startsWith('Endpoint origin does not match'))
    return { error: new BridgeError('UPSTREAM_PROTOCOL', text) }
  return {
    error: unreachable(text, remote ? { hint: REMOTE_HINT } : logHint(about)),
    ofProbe: isOfProbe(error, about),
    refused: rpcCode !== undefined || TRANSPORT_REFUSED.has(statusOf(error)) || isEraRefusal(error, about),
    retryAfterMs: errors?.retryAfterOf(error),
  }
}

function startTimeout(about: Circumstances, timeoutMs: number, words: string, log: { log?: string }): BridgeError {
  const { server, remote, installation } = about
  const fail = (text: string, hint: string): BridgeError =>
    new BridgeError('UPSTREAM_TIMEOUT', `Server '${server}' ${text}.${words}`, { hint, ...log })
  if (installation?.hasGrown) {
    const { seconds, manager, goesOn } = installation
    const text = `did not complete its start within ${seconds} s`
    return fail(
      goesOn ? text : `${text}, and ${manager} installs nothing more`,
      'Check the network and the package registry. Retry in a moment.',
    )
  }
  const seconds = timeoutMs / 1000
  if (remote) return fail(`did not answer within ${seconds} s`, 'It may be overloaded. Retry in a moment.')
  const text = `did not complete its start within ${seconds} s`
  if (DOWNLOADS.test(about.command ?? '')) return fail(text, 'It may be downloading its packages. Retry in a moment.')
  return new BridgeError('UPSTREAM_TIMEOUT', `Server '${server}' ${text}.${words}`, logHint(about))
}

/** Command lines that may download what they run. */
const DOWNLOADS = new RegExp(
  `(?:^|[\\s\\\\/'"])(?:${[
    String.raw`(?:npx|pnpx|bunx|uvx|pipx|dnx|jbang)(?:\.cmd|\.exe)?(?:\s|$)`,
    String.raw`(?:npm|pnpm|yarn|bun)(?:\.cmd|\.exe)? (?:exec|x|dlx)\s`,
    String.raw`uv(?:\.exe)? (?:\S+ )*?(?:tool )?run\s`,
    String.raw`(?:docker|podman|nerdctl)(?:\.exe)? (?:container )?(?:run|compose)\s`,
    String.raw`deno(?:\.exe)? run .*?(?:npm|jsr|https?):`,
    String.raw`go(?:\.exe)? run \S+@`,
    String.raw`nix (?:run|shell)\s`,
  ].join('|')})`,
)

/** @param what the request in words, such as "the call of 'echo'". */
export function requestFailure(error: unknown, what: string, about: Circumstances, tool?: string): Failure {
  const { server, remote, errors } = about
  const own = ownError(error)
  if (own) return { error: own, isOutage: remote && own.code === 'UPSTREAM_UNREACHABLE' }
  const fail = (code: ErrorCode, text: string, options?: BridgeErrorOptions): Failure => ({
    error: new BridgeError(code, `Server '${server}' ${text}`, options),
  })
  // Only calls have an effect.
  const effect = tool === undefined ? '' : UNSURE
  const login = errors?.loginNeeded(error, about)
  if (login) return { error: login, session: sessionAfter(error) }
  const rpc = rpcErrorOf(error)
  const pages = requiredPages(error, about.redact)
  if (pages.length > 0) return { error: linkRequired(server, what, pages) }
  if (rpc?.code === MESSAGE_TOO_LONG) return fail('FRAME_TOO_LARGE', `answered ${what} with ${rpc.message}`)
  if (rpc?.code === ANSWER_LOST) {
    const text = `Server '${server}' failed during ${what}${effect}: ${withQuotedTail(rpc.message, about)}`
    return { error: unreachable(text, { hint: REMOTE_HINT }), isOutage: true }
  }
  const answered = { answered: true, ...(errors && { session: sessionAfter(error) }) }
  if (rpc?.code === UNREADABLE) {
    const words = redactStart(about.redact, rpc.message, SHOWN_CHARS)
    return { ...fail('UPSTREAM_PROTOCOL', `returned an invalid response to ${what}${effect}: ${words}`), ...answered }
  }
  if (rpc) {
    const { text, given } = toldError(rpc, about)
    const named = tool === undefined ? {} : { tool }
    const data = { server, ...named, content: [{ type: 'text', text }], ...(given !== undefined && { data: given }) }
    const failure = fail('TOOL_FAILED', `refused ${what}: ${text} (${codeOf(rpc)})`, { data })
    return { ...failure, rpcCode: rpc.code, ...answered }
  }
  if (isTimeout(error)) {
    const { timeout } = fieldsOf((error as { data?: unknown }).data)
    const within = typeof timeout === 'number' ? `within ${timeout / 1000} s` : 'in time'
    const text = `did not answer ${what} ${within}`
    const failure =
      tool === undefined
        ? fail('UPSTREAM_TIMEOUT', `${text}. No call was sent`, { hint: 'Retry later.' })
        : fail('UPSTREAM_TIMEOUT', `${text}${UNSURE}`)
    return { ...failure, isOutage: remote }
  }
  const sdkCode = sdkCodeOf(error)
  if (sdkCode === 'INVALID_RESULT' || sdkCode === 'UNSUPPORTED_RESULT_TYPE' || error instanceof SyntaxError) {
    const text = `returned an invalid response to ${what}${effect}: ${wordsOf(error, about)}`
    return { ...fail('UPSTREAM_PROTOCOL', text), ...answered }
  }
  if (sdkCode === 'CAPABILITY_NOT_SUPPORTED') {
    const { method } = (error as { data?: { method?: unknown } }).data ?? {}
    return fail('UPSTREAM_PROTOCOL', `asked for ${String(method)} during ${what}, which no client supports`)
  }
  if (errors) return errors.requestFailure(error, what, about, effect)
  if (about.endedFor !== undefined) {
    const text = `was stopped during ${what}${effect}: it ${about.endedFor}`
    return fail('FRAME_TOO_LARGE', text)
  }
  const ended = about.exit ? describeExit(about.exit) : 'lost its connection'
  return {
    error: unreachable(`Server '${server}' ${ended} during ${what}${effect}.${quotedTail(about)}`, {
      ...logHint(about, 'Its next use restarts it. '),
    }),
  }
}

/** An error that the bridge raised inside a request, which the package may have wrapped. */
function ownError(error: unknown): BridgeError | undefined {
  return BridgeError.isInstance(error) ? error : causesOf(error).find((cause) => BridgeError.isInstance(cause))
}

/** For a process that exited unexpectedly. */
export function unexpectedExit(about: Circumstances, exit: ProcessExit): BridgeError {
  return unreachable(`Server '${about.server}' ${describeExit(exit)}.${quotedTail(about)}`, fullLog(about))
}

function unreachable(message: string, options: BridgeErrorOptions = {}): BridgeError {
  return new BridgeError('UPSTREAM_UNREACHABLE', message, options)
}

/** What to do about a process, which may have written more than the error shows. */
function logHint(about: Circumstances, first = ''): BridgeErrorOptions {
  const log = fullLog(about)
  const name = shellWord(about.server)
  if (log.log === undefined)
    return { hint: `The next use restarts the server. See its state with \`sandbridge servers ${name}\`.` }
  const command = `\`sandbridge servers ${name} --log\``
  return {
    ...log,
    hint: `${first}The user can read its full output with ${command}.`,
    userHint: `${first}Read its full output with ${command}.`,
  }
}

/** During negotiation, the package reports outages with the same code, but with a cause. */
function isEraRefusal(error: unknown, { errors }: Circumstances): boolean {
  if (messageOf(error).startsWith("Server's protocol version is not supported")) return true
  return sdkCodeOf(error) === 'ERA_NEGOTIATION_FAILED' && errors?.reasonOf(error) === undefined
}

/** The package has an error code of its own for this, except for a timeout and for HTTP 403. */
function isOfProbe(error: unknown, { errors }: Circumstances): boolean {
  if (!errors) return false
  if (isTimeout(error)) return messageOf(error).startsWith('Version negotiation probe')
  const code = sdkCodeOf(error)
  return (code === 'ERA_NEGOTIATION_FAILED' || code === 'CLIENT_HTTP_FORBIDDEN') && errors.wasReached(error)
}

function linkRequired(server: string, what: string, pages: RequiredPage[]): BridgeError {
  const links = pages.map(({ url, message }) => (message ? `${message} ${url}` : url)).join('; ')
  const text = `Server '${server}' requires the user to open a page before ${what}: ${links}`
  return new BridgeError('UPSTREAM_LINK_REQUIRED', text, { data: { server, pages } })
}

interface RpcError {
  code: number
  message: string
  data?: unknown
  /** The HTTP status that it came with, if that is not 200. */
  status?: number | undefined
}

function codeOf({ code, status }: RpcError): string {
  return status === undefined ? String(code) : `${code}, HTTP ${status}`
}

/** What the server wrote for its reader: often the message is general, and the reason is in the data. */
function toldError({ code, message, data }: RpcError, { redact }: Circumstances): { text: string; given?: unknown } {
  const text = redactStart(redact, message, SHOWN_CHARS)
  // Links that nobody may be offered, or `requiredPages` would have found them.
  if (data === undefined || data === null || code === URL_ELICITATION_REQUIRED) return { text }
  const reason = redactStart(redact, readable(data, SHOWN_CHARS), SHOWN_CHARS)
  const whole = reason === '' || text.includes(reason) ? text : `${text.replace(/[.:]\s*$/, '')}: ${reason}`
  const isShort = JSON.stringify(data).length <= MAX_DATA_CHARS
  return { text: whole, ...(isShort && { given: mapTexts(data, redact) }) }
}

function rpcErrorOf(error: unknown): RpcError | undefined {
  // Errors of the older HTTP+SSE transport have an HTTP status as their code, and an event.
  if (!(error instanceof Error) || 'event' in error) return undefined
  const { code, data } = error as { code?: unknown; data?: unknown }
  const status = error instanceof RpcRefusal ? error.status : undefined
  return typeof code === 'number' ? { code, message: error.message, data, status } : undefined
}

function describeExit({ code, signal, why }: ProcessExit): string {
  if (why !== undefined) return why
  return signal === null ? `exited with code ${code}` : `was killed by ${signal}`
}

/** The line of a server's output that states the reason, and its log messages. */
export function quotedTail({ stderrTail: words, redact, logged }: Circumstances): string {
  const line = words ? tellingLine(plainText(redact(words))) : ''
  const written = line === '' ? '' : ` Last output: ${line}`
  return logged ? `${written} It logged: ${logged}` : written
}

/** All kept output of a server. */
function fullLog({ stderrTail: words, redact }: Circumstances): { log?: string } {
  return words ? { log: plainText(redact(words)).slice(-SHOWN_CHARS).trim() } : {}
}

export function withQuotedTail(reason: string, about: Circumstances): string {
  const words = quotedTail(about)
  return words === '' ? reason : `${reason}.${words}`
}

/** The reason of a failed start, without text from the definition, which Node's own messages quote. */
function reasonOf(error: unknown, about: Circumstances): string {
  const rpc = rpcErrorOf(error)
  if (rpc?.code === UNREADABLE) return `it sent an invalid response: ${wordsOf(error, about)}`
  if (rpc) return `it refused to initialize: ${toldError(rpc, about).text} (${codeOf(rpc)})`
  if (error instanceof SyntaxError) return `it sent an invalid response: ${wordsOf(error, about)}`
  return withSaid(about.errors?.reasonOf(error) ?? wordsOf(error, about), error, about)
}

/** @param reason why a request failed, in our words */
export function withSaid(reason: string, error: unknown, { errors, redact }: Circumstances): string {
  const said = errors?.saidIn(error) ?? ''
  return said === '' ? reason : `${reason}: ${redactStart(redact, said, SHOWN_CHARS)}`
}

export function wordsOf(error: unknown, { redact }: Circumstances): string {
  return redactStart(redact, withoutDump(messageOf(error)), 500)
}

/** The client package quotes every problem that its schema has with a result: the first one is told in words. */
function withoutDump(message: string): string {
  const [, method, dump = ''] = /^Invalid result for (\S+): (\[[^]*)$/.exec(message) ?? []
  const problems = parseJson(dump)
  const problem = fieldsOf(Array.isArray(problems) ? problems[0] : undefined)
  if (method === undefined || !Array.isArray(problem['path'])) return message
  return `\`${problem['path'].join('.')}\` of ${method} is invalid: ${String(problem['message'])}`
}

/** The server did not answer in time. */
export function isTimeout(error: unknown): boolean {
  return sdkCodeOf(error) === 'REQUEST_TIMEOUT'
}

function sdkCodeOf(error: unknown): unknown {
  return error instanceof Error ? (error as { code?: unknown }).code : undefined
}

const MAX_CHARS = 300

/** Stack frames, separators, and lines that runtimes and package managers add after the reason. */
const NOISE = [
  /^\s*at .*(:\d+|\))\s*$/,
  /^[\s^~|{}[\](),;-]*$/,
  /^Node\.js v\d/,
  /^(npm|pnpm|yarn) (warn|notice|http)/i,
  /A complete log of this run can be found in/,
  /^npm (error|ERR!)( \S*)?$/,
  /^npm (error|ERR!) (code|errno|syscall|path|signal|command) /,
  /^npm (error|ERR!) 404\s+(Note that you can also|tarball, folder)/,
  /^\s*(requireStack|code|errno|syscall|path|spawnargs): /,
  /^\(?Use `node --trace/,
  /^note: run with `RUST_BACKTRACE/,
  /^(hint|help|info): /i,
]
/** A line that begins like this is the reason, whatever follows it. */
const REASON =
  /^(npm (error|ERR!) (404\s+'|.*(is not in|No matching version))|(\w+\.)*\w*(Error|Exception|Exit|Interrupt)\b|(fatal|panic|error)\b|\s*(×|╰─▶))/i

/** The last line that names an error, otherwise the last line that is not noise. Empty when there is none. */
export function tellingLine(text: string): string {
  const lines = text.split(/\r?\n/).filter((line) => !NOISE.some((noise) => noise.test(line)))
  const isTraceback = lines.some((line) => line.startsWith('Traceback (most recent call last)'))
  const last = isTraceback ? lines.findLast((line) => /^\S/.test(line)) : undefined
  const line = last ?? lines.findLast((one) => REASON.test(one)) ?? lines.at(-1) ?? ''
  const shown = line.trim().replace(/^npm (error|ERR!) (404\s+)?/, '')
  return shown.length > MAX_CHARS ? `${shown.slice(0, MAX_CHARS)}…` : shown
}
