// Reads what a proxy says about its client: X-Forwarded-For, -Host and -Proto. Only addresses named by
// `--trusted-proxy` are trusted; from any other sender the headers could be forged and are ignored.
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { BridgeError } from '@sandbridge/core/errors.ts'

/** The client of a request and the address it asked for, as far as they can be trusted. */
export interface Sender {
  address: string
  /** The Host header, or X-Forwarded-Host of a trusted proxy. */
  host: string
  /** Missing unless a trusted proxy states it. */
  protocol?: string
}

/** A proxy that sends one of these twice, or as a list, passed on a header of its client. */
const ONCE = ['x-forwarded-host', 'x-forwarded-proto']

export class TrustedProxies {
  readonly #list = new BlockList()

  /** @param addresses IP addresses and CIDR ranges. @throws BridgeError CONFIG_INVALID */
  constructor(addresses: readonly string[]) {
    for (const text of addresses) {
      const [, address = '', bits] = /^([\da-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
      const version = isIP(address)
      const prefix = Number(bits ?? (version === 6 ? 128 : 32))
      if (version === 0 || prefix > (version === 6 ? 128 : 32)) {
        throw new BridgeError('CONFIG_INVALID', `--trusted-proxy ${JSON.stringify(text)} is not an address`, {
          hint: 'Pass an IP address or a range: 127.0.0.1, 10.0.0.0/8, fd00::/8.',
        })
      }
      this.#list.addSubnet(address, prefix, familyOf(version))
    }
  }

  isTrusted(address: string | undefined): boolean {
    const version = isIP(address ?? '')
    return version !== 0 && this.#list.check(address!, familyOf(version))
  }

  /** Returns undefined when a trusted proxy's headers are ambiguous. */
  senderOf(request: IncomingMessage): Sender | undefined {
    const { headers, headersDistinct, socket } = request
    const direct = { address: plain(socket.remoteAddress ?? ''), host: headers.host ?? '' }
    if (!this.isTrusted(socket.remoteAddress)) return direct
    if (ONCE.some((name) => (headersDistinct[name]?.length ?? 0) > 1)) return undefined
    const [host = direct.host, protocol] = ONCE.map((name) => headersDistinct[name]?.[0]?.trim())
    if (protocol !== undefined && !/^https?$/i.test(protocol)) return undefined
    const hops = (headersDistinct['x-forwarded-for'] ?? []).join(',').split(',')
    const address = this.#clientOf(hops, direct.address)
    return { address, host, ...(protocol !== undefined && { protocol: protocol.toLowerCase() }) }
  }

  /** The last hop that is not a trusted proxy: each proxy appends the address of its client. */
  #clientOf(hops: readonly string[], proxy: string): string {
    let known = proxy
    for (const hop of hops.toReversed()) {
      const address = withoutPort(hop.trim())
      if (isIP(address) === 0) return known
      known = plain(address)
      if (!this.isTrusted(address)) return known
    }
    return known
  }
}

function familyOf(version: number): 'ipv4' | 'ipv6' {
  return version === 6 ? 'ipv6' : 'ipv4'
}

/** Some proxies append the port. */
function withoutPort(hop: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop
}

/** A socket for both IP versions reports IPv4 addresses as `::ffff:…`. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=[\d.]+$)/i, '')
}
