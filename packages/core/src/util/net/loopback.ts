// Addresses, and hosts that only this machine can reach. Pure.
import { isIPv6 } from 'node:net'

export function isHttpUrl(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)
}

/** @param host also as a URL has it, `[::1]` */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** True for a plain http address of this machine. */
export function isLoopbackUrl(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, hostname } = new URL(address)
  return protocol === 'http:' && isLoopback(hostname)
}

/** Whether a request to this host stays on this machine, however it is written. Not for what may be trusted. */
export function reachesThisMachine(host: string): boolean {
  const plain = host.replace(/^\[|\]$|\.$/g, '').toLowerCase()
  if (isLoopback(plain) || plain.endsWith('.localhost') || plain === '0.0.0.0' || plain === '::') return true
  return embeddedIpv4(plain).some((address) => isLoopback(address) || address === '0.0.0.0')
}

/** A form of IPv6 address: its first bytes, and the positions of the IPv4 address in it. */
interface Form {
  prefix: number[]
  places: number[][]
  /** All its bits are inverted. */
  inverted?: boolean
}

const LAST = [12, 13, 14, 15]
const NONE = [0, 0, 0, 0]

const FORMS: Form[] = [
  { prefix: [...NONE, ...NONE, ...NONE], places: [LAST] }, // IPv4-compatible, RFC 4291 section 2.5.5.1
  { prefix: [...NONE, ...NONE, 0, 0, 0xff, 0xff], places: [LAST] }, // IPv4-mapped, RFC 4291 section 2.5.5.2
  { prefix: [...NONE, ...NONE, 0xff, 0xff, 0, 0], places: [LAST] }, // IPv4-translated, RFC 2765 section 2.1
  { prefix: [0x20, 0x02], places: [[2, 3, 4, 5]] }, // 6to4, RFC 3056
  { prefix: [0, 0x64, 0xff, 0x9b, ...NONE, ...NONE], places: [LAST] }, // NAT64, RFC 6052
  // NAT64 for local use, RFC 8215: the operator chooses the prefix length, RFC 6052 section 2.2.
  {
    prefix: [0, 0x64, 0xff, 0x9b, 0, 1],
    places: [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], LAST],
  },
  { prefix: [0x20, 0x01, 0, 0], places: [[4, 5, 6, 7]] }, // Teredo's server, RFC 4380
  { prefix: [0x20, 0x01, 0, 0], places: [LAST], inverted: true }, // Teredo's client
]

/** Returns all possible IPv4 addresses; none for an IPv4 address or another form of IPv6 address. */
export function embeddedIpv4(address: string): string[] {
  if (!isIPv6(address)) return []
  const bytes = bytesOf(address)
  const forms = FORMS.filter(({ prefix }) => prefix.every((byte, index) => bytes[index] === byte))
  return forms.flatMap(({ places, inverted }) =>
    places.map((place) => place.map((index) => (inverted ? 0xff - bytes[index]! : bytes[index]!)).join('.')),
  )
}

/** Returns the sixteen bytes of an IPv6 address. The URL parser normalises it. */
function bytesOf(address: string): number[] {
  const { hostname } = new URL(`http://[${address}]`)
  const [head = '', tail] = hostname.slice(1, -1).split('::')
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0)
  return [...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff])
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}
