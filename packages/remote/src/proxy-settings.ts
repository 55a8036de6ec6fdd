// The proxy that the environment selects for a request: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, in upper or
// lower case, as curl reads them. Not supported: SOCKS proxies.
import { BlockList, isIP } from 'node:net'
import { isLoopback } from '@sandbridge/core/util/net'

type Environment = Record<string, string | undefined>

/**
 * Undefined means a direct connection. Loopback never uses a proxy.
 * @throws Error for a proxy that is neither http nor https.
 */
export function proxyFor(url: URL, env: Environment): URL | undefined {
  if (isLoopback(url.hostname) || url.hostname.endsWith('.localhost') || isExempt(url, setting(env, 'no_proxy') ?? ''))
    return undefined
  const value = setting(env, url.protocol === 'https:' ? 'https_proxy' : 'http_proxy') ?? setting(env, 'all_proxy')
  if (!value) return undefined
  const address = /^[a-z][\w+.-]*:\/\//i.test(value) ? value : `http://${value}`
  const proxy = URL.canParse(address) ? new URL(address) : undefined
  if (!proxy || !/^https?:$/.test(proxy.protocol)) {
    throw new Error('the proxy in the environment is not an http or https address')
  }
  return proxy
}

function setting(env: Environment, name: string): string | undefined {
  return env[name] || env[name.toUpperCase()] || undefined
}

/** Entries are names, which include their subdomains, or addresses, each with an optional port, or ranges, or `*`. */
function isExempt(url: URL, list: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === '*') return true
    if (entry.includes('/')) return isInRange(host, entry)
    const [, name, itsPort] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(entry.toLowerCase()) ?? []
    if (!name || (itsPort !== undefined && itsPort !== port)) return false
    const domain = name.replace(/^\*?\./, '')
    return host === domain || host.endsWith(`.${domain}`)
  })
}

/** @param range as in 192.0.2.0/24 or fd00::/8 */
function isInRange(host: string, range: string): boolean {
  const [address = '', bits = ''] = range.replaceAll(/[[\]]/g, '').split('/')
  const version = isIP(address)
  if (version === 0 || isIP(host) !== version || !/^\d+$/.test(bits) || Number(bits) > (version === 4 ? 32 : 128))
    return false
  const family = version === 4 ? 'ipv4' : 'ipv6'
  const list = new BlockList()
  list.addSubnet(address, Number(bits), family)
  return list.check(host, family)
}
