import { describe, expect, it } from 'vitest'
import { createRedactor } from '../../config/secrets/redact.ts'
import { FinishedPages, requiredPages } from './required-pages.ts'

const redact = createRedactor({
  type: 'stdio',
  command: 'server',
  args: ['auth'],
  env: { TOKEN: 'a-secret-that-is-long' },
})
const pagesFor = (...elicitations: unknown[]) => requiredPages({ code: -32_042, data: { elicitations } }, redact)

it('pages that a server wants opened are read from its error, with its texts', () => {
  const page = { mode: 'url', url: 'https://s.example/auth?x=1', message: 'Allow it.', elicitationId: 'e1' }
  expect(pagesFor(page)).toEqual([{ url: 'https://s.example/auth?x=1', message: 'Allow it.', id: 'e1' }])
  expect(requiredPages({ code: -32_603, data: { elicitations: [page] } }, redact)).toEqual([])
})

it.each(['file:///etc/passwd', 'javascript:alert(1)', 'https://bank.example@evil.example/', 'no address', 7, null])(
  'a required page is refused: %s',
  (url) => {
    expect(pagesFor({ url, message: 'Open it.' })).toEqual([])
  },
)

it.each([[undefined], [{}], [{ elicitations: 'none' }], [{ elicitations: [null, 'x', {}] }]])(
  'no required page is found in %j',
  (data) => {
    expect(requiredPages({ code: -32_042, data }, redact)).toEqual([])
  },
)

it('required pages show no secret of the definition, and still lead to the right address', () => {
  const [page] = pagesFor({
    url: 'https://s.example/auth/a-secret-that-is-long?k=a-secret-that-is-long',
    message: 'With a-secret-that-is-long',
  })
  expect(page).toEqual({ url: 'https://s.example/auth/[redacted]?k=[redacted]', message: 'With [redacted]' })
})

it('required pages are limited in number', () => {
  expect(pagesFor(...Array.from({ length: 100 }, () => ({ url: 'https://s.example/' })))).toHaveLength(5)
})

describe('a finished page', () => {
  const forever = new AbortController().signal

  it('a finished page ends the wait for it, also when it was finished before', async () => {
    const pages = new FinishedPages()
    pages.add('a')
    await pages.wait('a', forever)
    const later = pages.wait('b', forever)
    pages.add('other')
    pages.add('b')
    // Each wait resolves only when its own page is finished.
    await later
  })

  it('a finished page is not waited for when no call waits any more', async () => {
    const abort = new AbortController()
    const waiting = new FinishedPages().wait('a', abort.signal)
    abort.abort()
    // Both waits resolve without a finished page: the one that was pending, and one that begins after the abort.
    await waiting
    await new FinishedPages().wait('a', abort.signal)
  })
})
