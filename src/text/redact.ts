// Takes a server's secrets out of text that may be shown: its command's arguments, environment, headers and URL, by value.
// It must be applied to whatever an upstream wrote before that enters an error or a log line. It cannot know secrets that its configuration does not hold.
import type { RemoteServer, StdioServer } from '../config/server-definition.ts'
import { Pieces } from './redact-pieces.ts'
import { cleanWords } from './server-words.ts'
import { base64Forms, redactPercentEncoded, REPLACEMENT } from './encoded-secrets.ts'

/** Shorter values ("1", "yes") are no secrets, and replacing them everywhere would make text unreadable. */
const MIN_SECRET_LENGTH = 4
/** A shorter value becomes base64 that ordinary text may hold. */
const MIN_ENCODED_LENGTH = 6
/** A line of a multi-line secret, such as a key file, that is long enough to be told from ordinary text. */
const MIN_LINE_LENGTH = 16

/** A server's words, cleaned and without its secrets. */
export type Redactor = (text: string) => string

export function createRedactor(transport: StdioServer | RemoteServer): Redactor {
  // Most servers never say anything that has to be redacted.
  let forms: Forms | undefined
  let pieces: Pieces | undefined
  return (text) => {
    forms ??= formsOf(transport)
    pieces ??= new Pieces(forms.plain)
    // Cleaned before: a secret must not hide behind what nobody sees.
    text = cleanWords(text)
    for (const form of forms.written) if (text.includes(form)) text = text.replaceAll(form, REPLACEMENT)
    return pieces.redact(redactPercentEncoded(text, forms.plain))
  }
}

/** What is looked for; the longest first, since a secret that holds another one must not be left half readable. */
interface Forms {
  /** The secrets themselves. */
  plain: string[]
  /** These, and what they become inside of JSON and of base64. */
  written: string[]
}

function formsOf(transport: StdioServer | RemoteServer): Forms {
  const plain = new Set<string>()
  const written = new Set<string>()
  for (const part of valuesOf(transport).flatMap(partsOf)) {
    if (part.length < MIN_SECRET_LENGTH || plain.has(part)) continue
    plain.add(part)
    // A space in an address may be a plus sign.
    const asForm = part.replaceAll(' ', '+')
    plain.add(asForm)
    written.add(part).add(asForm).add(JSON.stringify(part).slice(1, -1))
    if (part.length < MIN_ENCODED_LENGTH) continue
    // Client ids and secrets are percent-encoded before they become base64, RFC 6749 section 2.3.1.
    for (const text of new Set([part, orEmpty(() => encodeURIComponent(part))])) {
      for (const form of base64Forms(text)) written.add(form)
    }
  }
  return { plain: longestFirst(plain), written: longestFirst(written) }
}

function longestFirst(texts: ReadonlySet<string>): string[] {
  return [...texts].toSorted((a, b) => b.length - a.length)
}

/** A secret that was cut off at this point would no longer be known as one: text is cut generously first, and exactly afterwards. */
const MARGIN = 16 * 1024

/** The end of a text, redacted, in `maxLength` characters. */
export function redactEnd(redact: Redactor, text: string, maxLength: number): string {
  const shown = redact(text.slice(-(maxLength + MARGIN))).slice(-maxLength)
  return Buffer.from(shown).toString()
}

/** The beginning of a text, redacted, in `maxLength` characters. */
export function redactStart(redact: Redactor, text: string, maxLength: number): string {
  const shown = redact(text.slice(0, maxLength + MARGIN)).slice(0, maxLength)
  // A part of a text keeps the whole of it in memory until it is copied, and errors and log messages are kept.
  return Buffer.from(shown).toString()
}

function valuesOf(transport: StdioServer | RemoteServer): string[] {
  const { secrets = [] } = transport
  if (transport.type === 'stdio') {
    const { command, args, env, cwd = '' } = transport
    return [command, ...args, ...Object.values(env), cwd, ...secrets]
  }
  const host = URL.canParse(transport.url) ? [new URL(transport.url).host, new URL(transport.url).hostname] : []
  const { clientId, clientSecret } = transport.oauth ?? transport.signIn ?? {}
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
  const client = clientSecret === undefined ? [] : [clientSecret, basic]
  return [transport.url, ...host, ...Object.values(transport.headers), ...client, ...secrets]
}

/** The value itself and the parts of it that programs print alone. */
function partsOf(value: string): string[] {
  const parts = [value, ...value.split(/\r?\n/).filter((line) => line.length >= MIN_LINE_LENGTH)]
  const option = /^--?[\w-]+=(.+)$/s.exec(value)
  if (option) parts.push(option[1]!)
  const scheme = /^(?:Bearer|Basic|Token)\s+(\S+)$/i.exec(value)
  if (scheme) parts.push(scheme[1]!)
  const address = option?.[1] ?? value
  if (URL.canParse(address)) {
    const url = new URL(address)
    const { username, password, pathname } = url
    // Many services hand out addresses with a token in their path, and servers quote the path of a request that fails.
    const segments = pathname.split('/').filter((segment) => segment.length >= MIN_LINE_LENGTH)
    for (const part of [username, password, ...segments]) parts.push(part, decoded(part))
    // What the name and the password become in an Authorization header, RFC 7617.
    if (username || password) parts.push(Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64'))
    parts.push(...url.searchParams.values())
  }
  return parts
}

const decoded = (text: string): string => orEmpty(() => decodeURIComponent(text))

/** Lone surrogates and stray percent signs cannot be encoded or decoded; then there is no such variant. */
function orEmpty(make: () => string): string {
  try {
    return make()
  } catch {
    return ''
  }
}
