// Fills in a definition's placeholders when its server is started. The only place where configuration reads secrets
// from the environment. An error names the server and the placeholder, never a value.
import path from 'node:path'
import { parse as parseEnv } from 'dotenv'
import { BridgeError } from '../../errors.ts'
import { isRecord } from '../../util/json/json.ts'
import { readOrdinarySync } from '../../util/files/read-ordinary.ts'
import { decodeText } from '../../util/bytes/decode-text.ts'
import { mergedEnvironment } from '../../util/process/environment.ts'
import { isPlainPlace } from '../secrets/secret-arguments.ts'
import { isHttpUrl } from '../../util/net/loopback.ts'
import { inputVariable } from './input-answers.ts'
import { fillPlaceholders, type Placeholder } from './placeholders.ts'
import type {
  ClientCredentials,
  CoveredFiles,
  RemoteServer,
  ServerDefinition,
  ServerSandbox,
  SignInClient,
  StdioServer,
} from './server-definition.ts'
import { textHash } from '../trust.ts'

export interface ExpandContext {
  env: Record<string, string | undefined>
  home: string
  /** Value of ${workspaceFolder}: the folder the bridge was started in. */
  workspaceFolder: string
  /** Reads a file for ${file:…} and envFile; reads from disk by default. */
  readFile?: (file: string) => string
  /** The user's answer for ${input:ID}; takes precedence over the environment variable MCP_INPUT_ID. */
  input?: (id: string) => string | undefined
}

interface FillContext extends ExpandContext {
  covers: CoveredFiles | undefined
  /** Receives each filled-in value that may be a secret. */
  onValue: (value: string) => void
}

/** RFC 9110, sections 5.1 and 5.5. Spaces and line ends around a value are not part of it. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/
const HEADER_VALUE = /^[\t\r\n ]*[\t\x20-\x7e\x80-\xff]*[\t\r\n ]*$/

/**
 * Returns a definition's transport with every placeholder filled in, for the process or the HTTP client. `envFile` and
 * `inheritEnv` are merged into `env`, and `~/` in command, cwd and file names becomes the home folder.
 * @throws BridgeError CONFIG_INVALID that names a missing variable, input or file.
 */
export function expandTransport(definition: ServerDefinition, given: ExpandContext): StdioServer | RemoteServer {
  const { transport } = definition
  const secrets = new Set<string>()
  const context = { ...given, covers: definition.covers, onValue: (value: string) => secrets.add(value) }
  const fill = (text: string, field: string): string => expandText(text, context, `${definition.name}: its ${field}`)
  const table = (texts: Record<string, string>, field: string): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text, `${field} ${name}`)]))

  if (transport.type !== 'stdio') {
    const url = fill(transport.url, 'url')
    if (!isHttpUrl(url)) {
      throw new BridgeError('CONFIG_INVALID', `${definition.name}: its url is not an http or https address.`)
    }
    checkCredentials(new URL(url), definition.name)
    const { type, headers, headersHelper } = transport
    const oauth = transport.oauth && (table({ ...transport.oauth }, 'oauth') as unknown as ClientCredentials)
    const signIn: SignInClient | undefined = transport.signIn && table({ ...transport.signIn }, 'oauth')
    const filledHeaders = table(headers, 'header')
    checkHeaders(filledHeaders, definition.name)
    const filled = { type, url, headers: filledHeaders, ...(oauth && { oauth }), ...(signIn && { signIn }) }
    // Its shell fills in variables: a value that became a part of the command could be another command.
    if (headersHelper !== undefined) Object.assign(filled, { headersHelper })
    return { ...filled, ...listOf(secrets) }
  }

  const env = table(transport.env, 'env')
  // Arguments may name what the entry itself sets: `"--header", "Authorization:${AUTH}"` with AUTH in its env.
  context.env = mergedEnvironment<string | undefined>([env, context.env])
  const inherited = (transport.inheritEnv ?? []).flatMap((name) => {
    const value = variable(context, name)
    return value === undefined ? [] : [[name, value] as const]
  })
  const envFile = transport.envFile === undefined ? undefined : inHome(fill(transport.envFile, 'envFile'), context)
  const filled: StdioServer = {
    type: 'stdio',
    command: inHome(fill(transport.command, 'command'), context),
    args: transport.args.map((text) => fill(text, 'args')),
    env: mergedEnvironment([
      Object.fromEntries(inherited),
      envFile === undefined ? {} : readEnv(envFile, context, `${definition.name}: its envFile`, transport.envFile),
      env,
    ]),
    ...(transport.cwd === undefined ? {} : { cwd: inHome(fill(transport.cwd, 'cwd'), context) }),
    ...(transport.sandbox && {
      sandbox: filledSandbox(
        transport.sandbox,
        (file) => path.resolve(context.workspaceFolder, inHome(fill(file, 'sandbox'), context)),
        (domain) => fill(domain, 'sandbox'),
      ),
    }),
  }
  return { ...filled, ...listOf(secrets) }
}

function filledSandbox(
  { filesystem, network, image }: ServerSandbox,
  fillPath: (file: string) => string,
  fillDomain: (domain: string) => string,
): ServerSandbox {
  const each = <T extends object>(lists: T, fill: (text: string) => string): T =>
    // Keys and types of values stay the same.
    Object.fromEntries(Object.entries(lists).map(([key, texts]) => [key, (texts as string[]).map(fill)])) as T
  return {
    ...(filesystem && { filesystem: each(filesystem, fillPath) }),
    ...(network !== undefined && { network: typeof network === 'boolean' ? network : each(network, fillDomain) }),
    ...(image !== undefined && { image: fillDomain(image) }),
  }
}

/** Checks credentials that are valid in a URL but not in an Authorization header. */
function checkCredentials({ username, password }: URL, server: string): void {
  try {
    decodeURIComponent(username + password)
  } catch {
    throw invalid(
      `${server}: its url has a user name or password with an invalid % escape.`,
      'Write %25 for a percent sign.',
    )
  }
}

function checkHeaders(headers: Record<string, string>, server: string): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name)) {
      throw invalid(
        `${server}: its headers have an invalid name: ${JSON.stringify(name.slice(0, 100))}.`,
        'Use letters, digits and - only.',
      )
    }
    if (!HEADER_VALUE.test(value)) {
      throw invalid(
        `${server}: its header ${name} has a character that is not allowed in a header.`,
        'Use Latin-1 characters only, without line breaks or other control characters.',
      )
    }
  }
}

/** Whether a request can carry them. */
export function areHeaders(value: unknown): value is Record<string, string> {
  if (!isRecord(value)) return false
  return Object.entries(value).every(
    ([name, text]) => HEADER_NAME.test(name) && typeof text === 'string' && HEADER_VALUE.test(text),
  )
}

function listOf(secrets: ReadonlySet<string>): { secrets?: string[] } {
  return secrets.size === 0 ? {} : { secrets: [...secrets] }
}

function expandText(text: string, context: FillContext, where: string): string {
  return fillPlaceholders(text, (placeholder) => valueOf(placeholder, context, where))
}

function valueOf({ kind, name, standard, written }: Placeholder, context: FillContext, where: string): string {
  // As in a shell: with `:-`, an empty variable counts as missing.
  const orDefault = (value: string | undefined): string | undefined =>
    standard !== undefined ? value || standard : value

  if (kind === 'file') return orDefaultFile(name, standard, context, where)
  if (kind === 'input') {
    const answer = context.input?.(name) ?? variable(context, inputVariable(name))
    if (answer) context.onValue(answer)
    const value = orDefault(answer)
    if (value !== undefined) return value
    throw invalid(`${where} needs the input "${name}".`, `Set the environment variable ${inputVariable(name)}.`)
  }
  const folder = kind === undefined ? folders(context).get(name) : undefined
  if (folder !== undefined) return folder
  if (!/^[A-Za-z_][\w.]*$/.test(name)) {
    throw invalid(
      `${where} has an unknown placeholder: \${${written.split(':')[0]}…}.`,
      'Write ${$} for a dollar sign.',
    )
  }
  const set = variable(context, name)
  if (set && !isPlainPlace(set)) context.onValue(set)
  // What stays as it is written where the variable is not set may also be set to nothing.
  const isWritten = standard === `$${name}` || standard === `%${name}%`
  const value = isWritten ? (set ?? standard) : orDefault(set)
  if (value !== undefined) return value
  throw invalid(
    `${where} needs the environment variable ${name}, which is not set.`,
    `Set ${name} where the bridge is started, or write \${${name}:-default}.`,
  )
}

/** Own properties of the environment only: inherited names such as `constructor` are not variables. */
function variable({ env }: ExpandContext, name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined
}

function orDefaultFile(name: string, standard: string | undefined, context: FillContext, where: string): string {
  try {
    const text = read(inHome(name, context), context, where).trimEnd()
    checkText(text, where, name)
    if (text !== '') context.onValue(text)
    return text
  } catch (error) {
    if (standard !== undefined) return standard
    throw error
  }
}

function folders({ home, workspaceFolder }: ExpandContext): Map<string, string> {
  return new Map([
    ['workspaceFolder', workspaceFolder],
    ['workspaceRoot', workspaceFolder],
    ['workspaceFolderBasename', path.basename(workspaceFolder)],
    ['userHome', home],
    ['pathSeparator', path.sep],
    ['/', path.sep],
  ])
}

function inHome(text: string, { home }: ExpandContext): string {
  return /^~([/\\]|$)/.test(text) ? path.join(home, text.slice(1)) : text
}

function readEnv(file: string, context: FillContext, where: string, written?: string): Record<string, string> {
  const variables = parseEnv(read(file, context, where, written))
  // Comments may be in any encoding.
  for (const one of Object.entries(variables)) checkText(one.join(''), where, written ?? file)
  return variables
}

/** A value with another character than was meant would be another value. */
function checkText(text: string, where: string, file: string): void {
  if (text.includes('\uFFFD'))
    throw invalid(`${where} names a file that is not UTF-8 text: ${file}`, 'Save it as UTF-8.')
}

/** @param written the path in the definition, to which a variable may have contributed */
function read(file: string, context: FillContext, where: string, written = file): string {
  const absolute = path.resolve(context.workspaceFolder, file)
  const text = readText(absolute, context, where, written)
  const trusted = context.covers?.[absolute]
  if (trusted === undefined || trusted === textHash(text)) return text
  throw invalid(
    `${where} names a file that has changed since you trusted it: ${written}`,
    'Look at the file, then run `sandbridge trust`.',
  )
}

function readText(absolute: string, { readFile }: FillContext, where: string, written: string): string {
  try {
    return readFile?.(absolute) ?? decodeText(readOrdinarySync(absolute), false)
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error'
    throw new BridgeError('CONFIG_INVALID', `${where} names a file that cannot be read (${code}): ${written}`, {
      hint: 'Correct the path, or make the file readable.',
    })
  }
}

function invalid(message: string, hint: string): BridgeError {
  return new BridgeError('CONFIG_INVALID', message, { hint, userHint: hint })
}
