// Recognises hosts that only this machine can reach. Pure.
import { embeddedIpv4 } from './embedded-ipv4.ts'

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
