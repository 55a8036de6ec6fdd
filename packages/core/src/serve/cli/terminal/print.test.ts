import { expect, it, vi } from 'vitest'
import { BridgeError } from '../../../errors.ts'
import { visible, visibleInline } from './print.ts'
import { reportFailure } from './report-failure.ts'

it.each([
  ['\u001b[2K', '\\u001b[2K'],
  ['\u009b1A\u0007\r', '\\u009b1A\\u0007\\u000d'],
  ['\u202eevil\u2069', '\\u202eevil\\u2069'],
  ['a\u200bb\ufeff', 'a\\u200bb\\ufeff'],
  ['\u{e0041}', '\\udb40\\udc41'],
  ['café 名 🙂\ttab', 'café 名 🙂\ttab'],
])('the text %j is printed as %s', (text, shown) => {
  expect(visible(text)).toBe(shown)
})

it('our own line breaks are printed, and those in text of others are not', () => {
  expect(visible('a\nb')).toBe('a\nb')
  expect(visibleInline('a\nb\tc')).toBe('a\\u000ab\\u0009c')
})

it('printed JSON has the same value as before', () => {
  const value = { a: '\u202e\u007f\u{e0041}' }
  expect(JSON.parse(visible(JSON.stringify(value)))).toEqual(value)
})

it('text of a server inside an error does not control the terminal', () => {
  let said = ''
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text)
    return true
  })
  const code = reportFailure(new BridgeError('UPSTREAM_AUTH_REQUIRED', 'failed: \u001b[31mNope', { hint: '\u202e' }))
  spy.mockRestore()
  expect([code, said]).toEqual([2, 'sandbridge: failed: \\u001b[31mNope\n\\u202e\n'])
})
