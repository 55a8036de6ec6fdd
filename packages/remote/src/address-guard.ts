// Refuses to connect to link-local and metadata addresses: on a cloud machine they hand out credentials to any process.
// Checks the address that is dialled, after name resolution, so that DNS cannot be changed in between.
import { lookup, type LookupAddress } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { embeddedIpv4 } from '@sandbridge/core/util/net'

const refused = new BlockList()
refused.addSubnet('169.254.0.0', 16, 'ipv4') // link-local, RFC 3927; 169.254.169.254 serves metadata on most clouds
refused.addSubnet('fe80::', 10, 'ipv6') // link-local, RFC 4291
refused.addSubnet('fd00:ec2::', 32, 'ipv6') // metadata and other local services on AWS
refused.addAddress('fd20:ce::254', 'ipv6') // metadata on Google Cloud
refused.addAddress('100.100.100.200', 'ipv4') // metadata on Alibaba Cloud
refused.addAddress('192.0.0.192', 'ipv4') // metadata on Oracle Cloud
refused.addAddress('168.63.129.16', 'ipv4') // the platform's own endpoint on Azure

/** Code of the error that is thrown instead of connecting. */
export const ADDRESS_REFUSED = 'ERR_UPSTREAM_ADDRESS_REFUSED'

/**
 * Checks a host that may itself be an address, for which no name is resolved.
 * @throws an error with code ADDRESS_REFUSED
 */
export function assertHostAllowed(host: string): void {
  const address = host.replace(/^\[|\]$/g, '')
  if (isIP(address) && isRefused(address)) throw refusal()
}

/** Resolves a name like Node, and fails when any of its addresses is refused. */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const first = addresses?.[0]
    if (error || !first) return callback(error ?? new Error('no address'), '', 0)
    if (addresses.some(({ address }) => isRefused(address))) return callback(refusal(), '', 0)
    if (options.all) callback(null, addresses)
    else callback(null, first.address, first.family)
  })
}

/** For an address that embeds another one, both are checked. */
function isRefused(address: string): boolean {
  const plain = address.replace(/%.*$/, '')
  if (refused.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4')) return true
  return embeddedIpv4(plain).some((inner) => refused.check(inner, 'ipv4'))
}

function refusal(): NodeJS.ErrnoException {
  return Object.assign(new Error('the address is link-local or serves cloud metadata'), { code: ADDRESS_REFUSED })
}
