// The challenges of WWW-Authenticate (RFC 9110, 11.6.1) for bearer tokens (RFC 6750, 3; RFC 9728, 5.1). Pure.

/** One way to authorize a request. */
interface Challenge {
  /** In lower case. */
  scheme: string
  /** By name in lower case. */
  parameters: ReadonlyMap<string, string>
}

/** What the challenges for bearer tokens say together. */
export interface BearerChallenge {
  error?: string
  scope?: string
  /** Where the metadata of the protected resource is. */
  resourceMetadata?: URL
}

const TOKEN = /[\w!#$%&'*+.^`|~-]+/y
/** Credentials in place of parameters, which end the challenge. */
const TOKEN68 = /[A-Za-z0-9\-._~+/]+=*(?=[ \t]*(?:,|$))/y
const EQUALS = /[ \t]*=[ \t]*/y
const QUOTED = /"((?:[^"\\]|\\.)*)"?/sy
const UNQUOTED = /[^\s,]*/y
const BETWEEN = /[\s,]*/y
const BLANKS = /[ \t]*/y

/** All challenges of a header, in order. Reads what it can of a header that breaks the rules. */
export function challengesIn(header: string): Challenge[] {
  const found: { scheme: string; parameters: Map<string, string> }[] = []
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const match = pattern.exec(header)
    if (match) at = pattern.lastIndex
    return match
  }
  while (at < header.length) {
    take(BETWEEN)
    const [name] = take(TOKEN) ?? []
    if (name === undefined) {
      at += 1
      continue
    }
    if (!take(EQUALS)) {
      found.push({ scheme: name.toLowerCase(), parameters: new Map() })
      take(BLANKS)
      take(TOKEN68)
      continue
    }
    const quoted = take(QUOTED)
    const value = quoted ? quoted[1]!.replaceAll(/\\(.)/gs, '$1') : take(UNQUOTED)![0].replaceAll(/^'|'$/g, '')
    const parameters = found.at(-1)?.parameters
    if (parameters && !parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value)
  }
  return found
}

/**
 * Undefined for a response that asks for no bearer token.
 * @param base the address of the request, for a relative address of metadata
 */
export function bearerChallenge(response: Response, base: string): BearerChallenge | undefined {
  const all = challengesIn(response.headers.get('www-authenticate') ?? '')
  const ours = all.filter(({ scheme }) => scheme === 'bearer' || scheme === 'dpop')
  if (ours.length === 0) return undefined
  const first = (name: string): string | undefined => {
    const values = ours.flatMap(({ parameters }) => parameters.get(name)?.trim() || [])
    return values[0]
  }
  const [error, scope, metadata] = [first('error'), first('scope'), first('resource_metadata')]
  const url = metadata !== undefined && URL.canParse(metadata, base) ? new URL(metadata, base) : undefined
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  return {
    ...(error !== undefined && { error: error.toLowerCase() }),
    ...(scope !== undefined && { scope }),
    ...(isWeb && { resourceMetadata: url }),
  }
}
