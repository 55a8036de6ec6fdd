import { expect, it, vi } from 'vitest'
import { BridgeError } from '../errors.ts'
import { visible, visibleInline } from './print.ts'
import { reportFailure } from './report-failure.ts'

it.each([
  ['\u001b[2K', '\\u001b[2K'],
  ['\u009b1A\u0007\r', '\\u009b1A\\u0007\\u000d'],
  ['\u202eevil\u2069', '\\u202eevil\\u2069'],
  ['a\u200bb\ufeff', 'a\\u200bb\\ufeff'],
  ['\u{e0041}', '\\udb40\\udc41'],
  ['café 名 🙂\ttab', 'café 名 🙂\ttab'],
])('%j is shown as %s', (text, shown) => {
  expect(visible(text)).toBe(shown)
})

it('lines stay lines, but not in what others wrote', () => {
  expect(visible('a\nb')).toBe('a\nb')
  expect(visibleInline('a\nb\tc')).toBe('a\\u000ab\\u0009c')
})

it('JSON is the same value as before', () => {
  const value = { a: '\u202e\u007f\u{e0041}' }
  expect(JSON.parse(visible(JSON.stringify(value)))).toEqual(value)
})

it('what a server said does not steer the terminal from within an error', () => {
  let said = ''
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text)
    return true
  })
  const code = reportFailure(new BridgeError('UPSTREAM_AUTH_REQUIRED', 'failed: \u001b[31mNope', { hint: '\u202e' }))
  spy.mockRestore()
  expect([code, said]).toEqual([2, 'sandbridge: failed: \\u001b[31mNope\n\\u202e\n'])
})
