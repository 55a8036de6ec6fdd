// Whether an address is on the public internet: not this machine, its network or cloud metadata. Pure.
import { BlockList, isIP } from 'node:net'
import { embeddedIpv4 } from '@sandbridge/core/util/net'

const special = new BlockList()
// The IANA registries of special-purpose addresses, RFC 6890, and multicast.
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // the platform's own endpoint on Azure
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  special.addSubnet(network, prefix, 'ipv4')
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')
// NAT64, RFC 6052: on networks without IPv4, every public name resolves to this range.
globalUnicast.addSubnet('64:ff9b::', 96, 'ipv6')
special.addSubnet('2001:db8::', 32, 'ipv6')
special.addSubnet('3fff::', 20, 'ipv6')

/** Whether an address is public. For an address that embeds another one, both must be. */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '')
  const family = isIP(plain)
  if (family === 0) return false
  if (family === 4) return !special.check(plain, 'ipv4')
  const inner = embeddedIpv4(plain)
  if (inner.some((one) => special.check(one, 'ipv4'))) return false
  return !special.check(plain, 'ipv6') && globalUnicast.check(plain, 'ipv6')
}
