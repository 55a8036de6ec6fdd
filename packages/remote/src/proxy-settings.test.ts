import { expect, it } from 'vitest'
import { proxyFor } from './proxy-settings.ts'

const via = (url: string, env: Record<string, string>) => proxyFor(new URL(url), env)?.href

it.each<[string, Record<string, string>, string | undefined]>([
  ['https://a.example/', { https_proxy: 'http://p:1' }, 'http://p:1/'],
  ['https://a.example/', { HTTPS_PROXY: 'http://p:1' }, 'http://p:1/'],
  ['https://a.example/', { http_proxy: 'http://p:1' }, undefined],
  ['http://a.example/', { http_proxy: 'p:1' }, 'http://p:1/'],
  ['http://a.example/', { all_proxy: 'https://p:1' }, 'https://p:1/'],
  ['http://a.example/', { http_proxy: '' }, undefined],
  ['http://127.0.0.1:8/', { http_proxy: 'p:1' }, undefined],
  ['http://localhost/', { http_proxy: 'p:1' }, undefined],
  ['http://[::1]/', { http_proxy: 'p:1' }, undefined],
  ['http://a.example/', { http_proxy: 'p:1', no_proxy: '*' }, undefined],
  ['http://a.example/', { http_proxy: 'p:1', NO_PROXY: 'b.example, .example' }, undefined],
  ['http://a.example/', { http_proxy: 'p:1', no_proxy: 'a.example:81' }, 'http://p:1/'],
  ['http://a.example:81/', { http_proxy: 'p:1', no_proxy: 'a.example:81' }, undefined],
  ['http://aexample/', { http_proxy: 'p:1', no_proxy: 'example' }, 'http://p:1/'],
  ['http://10.0.0.1/', { http_proxy: 'p:1', no_proxy: '10.0.0.1' }, undefined],
  ['http://10.0.0.1/', { http_proxy: 'p:1', no_proxy: 'localhost,10.0.0.0/8' }, undefined],
  ['http://11.0.0.1/', { http_proxy: 'p:1', no_proxy: '10.0.0.0/8' }, 'http://p:1/'],
  ['http://10.0.0.1/', { http_proxy: 'p:1', no_proxy: '0.0.0.0/0' }, undefined],
  ['http://10.0.0.1/', { http_proxy: 'p:1', no_proxy: '10.0.0.0/33, x/8, 10.0.0.0/' }, 'http://p:1/'],
  ['http://[fd12::1]/', { http_proxy: 'p:1', no_proxy: 'fd00::/8' }, undefined],
  ['http://[fe80::1]/', { http_proxy: 'p:1', no_proxy: 'fd00::/8,10.0.0.0/8' }, 'http://p:1/'],
])('the proxy for %s with %j is found', (url, env, expected) => {
  expect(via(url, env)).toBe(expected)
})

it.each(['socks5://p:1', 'http://'])('the proxy %s is refused', (proxy) => {
  expect(() => via('http://a.example/', { http_proxy: proxy })).toThrow('not an http or https address')
})
