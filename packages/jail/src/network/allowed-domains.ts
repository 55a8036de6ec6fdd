// Decides which hosts a jailed server may reach, by the names in its definition. Pure.
import { isIP, isIPv6 } from 'node:net'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { embeddedIpv4, isLoopback } from '@sandbridge/core/util/net'
import { shortName } from '@sandbridge/core/util/text'

/** The network setting of a definition, unless it is true or false. */
export interface DomainLists {
  allowedDomains: readonly string[]
  deniedDomains?: readonly string[] | undefined
}

export interface AllowedDomains {
  /** Whether connections to a name or address are allowed at all. */
  allows(host: string, port: number): boolean
  /** Whether it must not be reached, by any name: also asked of the addresses that a name leads to. */
  denies(host: string, port: number): boolean
  /** Whether it is named explicitly as a private host: only then may a non-public address be dialled. */
  allowsPrivate(host: string, port: number): boolean
  /** Whether an entry names this machine's loopback. */
  readonly hasLocal: boolean
}

interface Pattern {
  /** Without the leading `*.`, in lower case. */
  host: string
  kind: 'any' | 'below' | 'exact'
  port: number | undefined
}

/**
 * Parses `*`, `example.com`, `*.example.com` (its subdomains) and addresses, each with `:PORT` or for every port.
 * @throws BridgeError CONFIG_INVALID that names the entry
 */
export function allowedDomains(lists: DomainLists): AllowedDomains {
  const allowed = lists.allowedDomains.map((entry) => parse(entry))
  const denied = (lists.deniedDomains ?? []).map((entry) => parse(entry))
  const some = (patterns: Pattern[], host: string, port: number): boolean =>
    patterns.some((pattern) => matches(pattern, bareHost(host), port))
  const denies = (host: string, port: number): boolean =>
    [host, ...embeddedIpv4(bareHost(host))].some((one) => some(denied, one, port))
  const inside = allowed.filter(({ kind, host }) => kind === 'exact' && (isIP(host) !== 0 || isLocal(host)))
  return {
    allows: (host, port) => some(allowed, host, port) && !denies(host, port),
    denies,
    allowsPrivate: (host, port) => some(inside, host, port),
    hasLocal: inside.some(({ host }) => isLocal(host) || isLoopback(host)),
  }
}

/** Normalised for comparison: DNS ignores case and a trailing dot, and an IPv6 address has many forms. */
export function bareHost(host: string): string {
  const bare = host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
  return isIPv6(bare) && !bare.includes('%') ? new URL(`http://[${bare}]`).hostname.slice(1, -1) : bare
}

function parse(entry: string): Pattern {
  const match = /^(\*\.)?(\*|\[[0-9a-f:.]+\]|[\p{L}\p{N}_.-]+|[0-9a-f:]+:[0-9a-f:.]*)(?::(\d{1,5}))?$/iu.exec(
    entry.trim(),
  )
  const [, below, written = '', port] = match ?? []
  if (!match || (below !== undefined && written === '*')) {
    throw new BridgeError('CONFIG_INVALID', `'${shortName(entry)}' is not a domain that a jail can allow.`, {
      hint: 'Write a name (api.example.com), the names below one (*.example.com), or * for all of the internet.',
    })
  }
  const host = bareHost(asciiHost(written))
  return {
    host,
    kind: written === '*' ? 'any' : below === undefined ? 'exact' : 'below',
    port: port === undefined ? undefined : Number(port),
  }
}

/** An internationalised name in the form that DNS uses. */
function asciiHost(host: string): string {
  return /^[\x20-\x7e]*$/.test(host) || !URL.canParse(`http://${host}`) ? host : new URL(`http://${host}`).hostname
}

function matches({ host, kind, port }: Pattern, wanted: string, wantedPort: number): boolean {
  if (port !== undefined && port !== wantedPort) return false
  if (kind === 'any') return true
  return kind === 'exact' ? wanted === host : wanted.endsWith(`.${host}`)
}

function isLocal(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}
