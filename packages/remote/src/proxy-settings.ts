// The proxy that the environment selects for a request: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, in upper or
// lower case, as curl reads them. Not supported: SOCKS proxies, and address ranges in NO_PROXY.
import { isLoopback } from '@sandbridge/core/util/net/loopback.ts'

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

/** Entries are names, which include their subdomains, or addresses, each with an optional port, or `*`. */
function isExempt(url: URL, list: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === '*') return true
    const [, name, itsPort] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(entry.toLowerCase()) ?? []
    if (!name || (itsPort !== undefined && itsPort !== port)) return false
    const domain = name.replace(/^\*?\./, '')
    return host === domain || host.endsWith(`.${domain}`)
  })
}
