import { expect, it } from 'vitest'
import { deprecationNote } from './deprecation.ts'

it.each([
  ['read_file', 'Read a whole file. DEPRECATED: Use read_text_file instead.', 'DEPRECATED: Use read_text_file instead'],
  ['a', 'Deprecated. Reads a file.', 'Deprecated'],
  ['a', 'Deprecated in favor of b', 'Deprecated in favor of b'],
  ['a', 'Reads a file.\nThis tool is deprecated; use b.', 'This tool is deprecated; use b'],
  ['a', 'The method has been superseded by b.', 'The method has been superseded by b'],
  ['a', '[Deprecated] Reads a file', '[Deprecated] Reads a file'],
  ['read_file_deprecated', 'Reads a file', 'deprecated'],
  ['deprecatedReadFile', undefined, 'deprecated'],
])('the tool %s, described as %j, is deprecated', (name, description, note) => {
  expect(deprecationNote({ name, ...(description === undefined ? {} : { description }) })).toBe(note)
})

it('a tool whose title says so is deprecated', () => {
  expect(deprecationNote({ name: 'a', title: 'Read file (deprecated)' })).toBe('Read file (deprecated)')
  expect(deprecationNote({ name: 'a', annotations: { title: 'Deprecated: use b' } })).toBe('Deprecated: use b')
})

it.each([
  ['list_deprecated_apis', 'Lists deprecated endpoints of a cluster'],
  ['lint', 'Finds obsolete calls. Reports deprecated and removed functions.'],
  ['read', 'Reads a file'],
])('the tool %s, described as %j, is not deprecated', (name, description) => {
  expect(deprecationNote({ name, description })).toBeUndefined()
})

it('hostile descriptions are searched for a deprecation in linear time, and shown on one line', () => {
  const note = deprecationNote({ name: 'a', description: `DEPRECATED: ${'x '.repeat(500_000)}` })
  expect(note!.length).toBeLessThanOrEqual(72)
  expect(deprecationNote({ name: 'a', description: 'this the '.repeat(100_000) + 'deprecated' })).toBeUndefined()
})
