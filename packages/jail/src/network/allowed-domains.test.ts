import { describe, expect, it } from 'vitest'
import { allowedDomains } from './allowed-domains.ts'
import { isPublicAddress } from './public-address.ts'

const allows = (allowed: string[], host: string, port = 443, denied: string[] = []): boolean =>
  allowedDomains({ allowedDomains: allowed, deniedDomains: denied }).allows(host, port)

describe('allowed domains', () => {
  it.each<[string, string]>([
    ['api.example.com', 'api.example.com'],
    ['api.example.com', 'API.Example.COM.'],
    ['*.example.com', 'a.b.example.com'],
    ['*', 'anything.example'],
    ['example.com:443', 'example.com'],
    ['192.0.2.1', '192.0.2.1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['bücher.example', 'xn--bcher-kva.example'],
  ])('the allowed domain %s allows %s', (entry, host) => expect(allows([entry], host)).toBe(true))

  it.each<[string, string]>([
    ['example.com', 'api.example.com'],
    ['example.com', 'example.com.evil.example'],
    ['example.com', 'notexample.com'],
    ['*.example.com', 'example.com'],
    ['*.example.com', 'evilexample.com'],
    ['example.com:8443', 'example.com'],
    ['192.0.2.1', '192.0.2.10'],
  ])('the allowed domain %s does not allow %s', (entry, host) => expect(allows([entry], host)).toBe(false))

  it('a denied domain beats an allowed one', () => {
    expect(allows(['*'], 'evil.example', 443, ['evil.example'])).toBe(false)
    expect(allows(['*'], 'good.example', 443, ['evil.example'])).toBe(true)
  })

  it.each(['', '*.', '*.*', 'https://example.com', 'a b', 'example.com/path', 'ex*mple.com'])(
    'the domain %j is refused in a definition',
    (entry) => {
      expect(() => allowedDomains({ allowedDomains: [entry] })).toThrow('is not a domain')
    },
  )

  it('a private address is allowed only where the definition names it', () => {
    const all = allowedDomains({ allowedDomains: ['*', 'intranet.example'] })
    expect([all.allowsPrivate('127.0.0.1', 80), all.allowsPrivate('intranet.example', 80)]).toEqual([false, false])
    expect(allowedDomains({ allowedDomains: ['localhost:80'] }).allowsPrivate('localhost', 80)).toBe(true)
    expect(allowedDomains({ allowedDomains: ['localhost:80'] }).allowsPrivate('localhost', 81)).toBe(false)
  })

  it.each<[string, boolean]>([
    ['localhost:80', true],
    ['api.localhost', true],
    ['127.0.0.1', true],
    ['[::1]:8080', true],
    ['8.8.8.8', false],
    ['192.168.1.5', false],
    ['*', false],
  ])('with the allowed domain %s, hasLocal is %s', (entry, expected) => {
    expect(allowedDomains({ allowedDomains: [entry] }).hasLocal).toBe(expected)
  })
})

it.each(['93.184.216.34', '2606:2800:220:1::1', '64:ff9b::5db8:d822'])('the address %s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

it.each(
  '0.0.0.0 10.1.2.3 100.64.0.1 127.9.9.9 169.254.169.254 172.31.0.1 192.168.1.1 224.0.0.1 255.255.255.255 :: ::1 fe80::1 fd00::1 ff02::1 ::ffff:10.0.0.1 2002:7f00:1::1 64:ff9b::a00:1 fe80::1%eth0 no-address'.split(
    ' ',
  ),
)('the address %s is not public', (address) => expect(isPublicAddress(address)).toBe(false))
