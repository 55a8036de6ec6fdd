// Removes a server's secrets by value (variables, headers, secret arguments, credentials in its URL). Commands, paths
// and plain URLs stay, for diagnosis. Apply it to everything an upstream wrote before it enters an error or a log line.
// Secrets that neither the configuration nor the bridge holds are not found.
import type { RemoteServer, StdioServer } from '../entries/server-definition.ts'
import type { Environment } from '../settings/client-context.ts'
import { passedEnvironment } from '../entries/passed-variables.ts'
import { Pieces } from './redact-pieces.ts'
import { cleanWords } from '../../util/text/server-words.ts'
import { base64Forms, redactPercentEncoded, REPLACEMENT } from './encoded-secrets.ts'
import { hasRandomRun, isPlainPlace, secretArguments } from './secret-arguments.ts'
import { orUndefined } from '../../util/or-undefined.ts'

/** Shorter values ("1", "yes") are not secrets, and replacing them would make text unreadable. */
const MIN_SECRET_LENGTH = 4
/** The base64 of a shorter value may occur in ordinary text. */
const MIN_ENCODED_LENGTH = 6
/** A line of a multi-line secret, such as a key file, that is long enough to be distinctive. */
const MIN_LINE_LENGTH = 16

/** Cleans a server's text and removes its secrets. */
export type Redactor = (text: string) => string

/**
 * @param env the variables that a local server inherits: a proxy's address may contain a password
 * @param held further secrets, which may become more
 */
export function createRedactor(
  transport: StdioServer | RemoteServer,
  env: Environment = {},
  held?: HeldSecrets,
): Redactor {
  // Most servers never write anything that must be redacted.
  let known: { forms: Forms; pieces: Pieces; version: number | undefined } | undefined
  return (text) => {
    if (!known || known.version !== held?.version) {
      const forms = formsOf([...valuesOf(transport, env), ...(held?.values ?? [])])
      known = { forms, pieces: new Pieces(forms.plain), version: held?.version }
    }
    const { forms, pieces } = known
    // Removes invisible characters first: they could split a secret.
    text = cleanWords(text)
    for (const form of forms.written) if (text.includes(form)) text = text.replaceAll(form, REPLACEMENT)
    return pieces.redact(redactPercentEncoded(text, forms.plain))
  }
}

/** The texts to find, longest first: a secret that contains another one must be replaced completely. */
interface Forms {
  /** The secrets themselves. */
  plain: string[]
  /** The secrets, and their forms inside JSON and base64. */
  written: string[]
}

function formsOf(values: readonly string[]): Forms {
  const plain = new Set<string>()
  const written = new Set<string>()
  for (const part of values) {
    if (part.length < MIN_SECRET_LENGTH || plain.has(part)) continue
    plain.add(part)
    // In a URL, a plus sign may stand for a space.
    const asForm = part.replaceAll(' ', '+')
    plain.add(asForm)
    written.add(part).add(asForm).add(JSON.stringify(part).slice(1, -1))
    if (part.length < MIN_ENCODED_LENGTH) continue
    // Client ids and secrets are percent-encoded before base64, RFC 6749 section 2.3.1.
    for (const text of new Set([part, orUndefined(() => encodeURIComponent(part)) ?? ''])) {
      for (const form of base64Forms(text)) written.add(form)
    }
  }
  return { plain: longestFirst(plain), written: longestFirst(written) }
}

function longestFirst(texts: ReadonlySet<string>): string[] {
  return [...texts].toSorted((a, b) => b.length - a.length)
}

/** A secret cut at the edge could not be recognised: text is first cut with this margin, later exactly. */
const MARGIN = 16 * 1024

/** The end of a text, redacted, at most `maxLength` characters. */
export function redactEnd(redact: Redactor, text: string, maxLength: number): string {
  const shown = redact(text.slice(-(maxLength + MARGIN))).slice(-maxLength)
  return Buffer.from(shown).toString()
}

/** The beginning of a text, redacted, at most `maxLength` characters. */
export function redactStart(redact: Redactor, text: string, maxLength: number): string {
  const shown = redact(text.slice(0, maxLength + MARGIN)).slice(0, maxLength)
  // A substring keeps the whole text in memory until it is copied, and errors and log messages are kept.
  return Buffer.from(shown).toString()
}

function valuesOf(transport: StdioServer | RemoteServer, inherited: Environment): string[] {
  const { secrets = [] } = transport
  if (transport.type === 'stdio') {
    const { args, env } = transport
    const values = Object.values(env).filter((value) => !isPlainPlace(value) && isNoPlaceholder(value))
    const places = [...args, ...Object.values(env), ...Object.values(passedEnvironment(inherited))].map(valueOf)
    return [...[...secretArguments(args), ...values, ...secrets].flatMap(partsOf), ...places.flatMap(credentialsIn)]
  }
  const { clientId, clientSecret } = transport.oauth ?? transport.signIn ?? {}
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
  const client = clientSecret === undefined ? [] : [clientSecret, basic]
  const values = [...Object.values(transport.headers), ...client].filter(isNoPlaceholder)
  return [...[...values, ...secrets].flatMap(partsOf), ...credentialsIn(transport.url)]
}

/** The value of an option or variable on a command line. */
function valueOf(arg: string): string {
  return /^-{0,2}[\w.-]+=(.+)$/s.exec(arg)?.[1] ?? arg
}

/** The value, and parts of it that programs may print separately. */
function partsOf(value: string): string[] {
  const parts = [value, ...value.split(/\r?\n/).filter((line) => line.length >= MIN_LINE_LENGTH)]
  const scheme = /^(?:Bearer|Basic|Token)\s+(\S+)$/i.exec(value)
  if (scheme) parts.push(scheme[1]!)
  return [...parts, ...credentialsIn(value)]
}

/** The parts of a URL that are secret; none for an invalid URL. */
function credentialsIn(address: string): string[] {
  if (!address.includes('://') || !URL.canParse(address)) return []
  const { username, password, pathname, searchParams } = new URL(address)
  // Many services issue URLs with a token in the path, and servers quote the path of a failed request.
  const segments = pathname.split('/').filter((part) => part.length >= MIN_LINE_LENGTH && hasRandomRun(decoded(part)))
  const parts = [username, password, ...segments].flatMap((part) => [part, decoded(part)])
  // Name and password as in an Authorization header, RFC 7617.
  if (username || password) parts.push(Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64'))
  const values = [...searchParams.values()]
  return [...parts, ...values, ...values.map((value) => encodeURIComponent(value))].filter(isNoPlaceholder)
}

/** For a definition as written: a placeholder for a secret is not secret, but a default value may be. */
function isNoPlaceholder(text: string): boolean {
  return text.includes(':-') || !/^(\w+ )?(\$\{|(\$|%24)?%7B)[^{}]*(\}|%7D)$/i.test(text)
}

/** Lone surrogates and stray percent signs cannot be encoded or decoded, so they have no such form. */
const decoded = (text: string): string => orUndefined(() => decodeURIComponent(text)) ?? ''

/** More than are in use at once; the oldest are forgotten first. */
const MAX_HELD = 2_000

export class HeldSecrets {
  readonly values = new Set<string>()
  /** Changes whenever a value is added. */
  version = 0

  add(...values: (string | undefined)[]): void {
    for (const value of values) {
      if (!value || this.values.has(value)) continue
      this.values.add(value)
      this.version += 1
      if (this.values.size > MAX_HELD) this.values.delete(this.values.values().next().value!)
    }
  }
}
