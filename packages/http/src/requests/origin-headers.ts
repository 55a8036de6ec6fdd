// Parses Host and Origin in one plain form only: no other parser can see a different host in it. Pure.
import { isIPv4, isIPv6 } from 'node:net'

const LABEL = '[a-z\\d](?:[a-z\\d-]{0,61}[a-z\\d])?'
const AUTHORITY = new RegExp(`^(?:\\[([\\da-f:.]+)\\]|(${LABEL}(?:\\.${LABEL})*))(?::(\\d{1,5}))?$`, 'i')

export const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '::1']

/**
 * The lower-case host of `HOST`, `HOST:PORT` or `[IPV6]:PORT`, an IPv6 address without brackets; undefined for anything
 * else.
 */
export function hostOf(authority: string): string | undefined {
  const [, v6, name, port = '0'] = AUTHORITY.exec(authority) ?? []
  if (Number(port) > 65_535) return undefined
  if (v6 !== undefined) return isIPv6(v6) ? v6.toLowerCase() : undefined
  return name?.toLowerCase()
}

/**
 * The host of a web origin (RFC 6454, section 6.2); undefined for `null`, for other schemes and for anything browsers
 * do not send.
 */
export function originHost(origin: string): string | undefined {
  const [, authority] = /^https?:\/\/([^/]+)$/.exec(origin) ?? []
  return authority === undefined ? undefined : hostOf(authority)
}

/** Whether the host is an address in its usual form. Other programs also accept `127.1` and `0x7f000001`. */
export function isAddress(host: string): boolean {
  return isIPv4(host) || isIPv6(host)
}

/** Whether a host name means this machine, independent of DNS. */
export function isLoopbackName(host: string | undefined): boolean {
  return host !== undefined && LOOPBACK_NAMES.includes(host)
}
