import { expect, it } from 'vitest'
import { webPage } from './required-pages.ts'

it.each(['https://example.com/a?b=c#d', 'http://localhost:3000/', 'HTTPS://EXAMPLE.com', 'https://[::1]/x'])(
  'a page may be opened: %j',
  (url) => expect(webPage(url)?.href).toBe(new URL(url).href),
)

it.each([
  'https:\\\\evil.example',
  'https:/\\evil.example/',
  'https://good.example\\@evil.example/',
  '\0https://evil.example/',
  ' https://evil.example/',
  'ht\ntps://evil.example/',
  'https://evil.example/\t',
  'https:evil.example',
  'https:///evil.example',
  'https://good.example\u202e/',
  'https://user@evil.example/',
  'https://user:password@evil.example/',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'vscode://open',
  'https://',
  42,
])('a page is not offered: %j', (url) => expect(webPage(url)).toBeUndefined())
