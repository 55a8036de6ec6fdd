// Recognises hosts that only this machine can reach. Pure.

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
