import path from 'node:path'
import { expect, it } from 'vitest'
import { checkStoredName } from './stored-name.ts'

it.each(['report.csv', 'März 2026.xlsx', 'a', 'x'.repeat(128), '写真.png', 'a..b', 'console.txt', 'Q1 (final).md'])(
  'a name that may become a folder is accepted: %s',
  (name) => {
    expect(checkStoredName(name, 'an artifact')).toBe(name)
  },
)

it.each([
  ['', 'empty'],
  ['  ', 'empty'],
  ['..', 'begins with a dot'],
  ['.hidden', 'begins with a dot'],
  ['../etc/passwd', 'path separator'],
  ['a/b', 'path separator'],
  ['/etc/passwd', 'path separator'],
  ['a\\b', 'path separator'],
  ['C:x', 'one of'],
  ['a\0b', 'control character'],
  ['a\nb', 'control character'],
  ['a\u202eb', 'control character'],
  ['a\ud800b', 'control character'],
  ['x'.repeat(129), 'too long (129'],
  ['x'.repeat(5_000), 'too long (5000'],
  ['写'.repeat(100), 'too long'],
  ['con', 'Windows'],
  ['NUL.txt', 'Windows'],
  ['nul .txt', 'Windows'],
  ['lpt1', 'Windows'],
  ['end.', 'ends with a dot'],
  ['end ', 'ends with a space'],
])('the name %j is refused, since it may not become a folder', (name, reason) => {
  expect(() => checkStoredName(name, 'an artifact')).toThrow(
    expect.objectContaining({ code: 'STATE_REFUSED', message: expect.stringContaining(reason) }),
  )
})

it('a name is the same in both spellings of an accent', () => {
  expect(checkStoredName('e\u0301.txt', 'an artifact')).toBe('\u00e9.txt')
})

it.each(['..', '../etc/passwd', 'a/../../b'])('control: without the check, the name %s leaves the folder', (name) => {
  expect(path.join('/kept', name).startsWith('/kept/')).toBe(false)
  expect(() => checkStoredName(name, 'an artifact')).toThrow()
})
