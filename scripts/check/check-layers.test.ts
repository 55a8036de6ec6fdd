// This file verifies that every kind of violation of the layer table is found, and that valid code passes.
import { expect, it } from 'vitest'
import { readTable, violations } from './check-layers.mjs'

const TABLE = `
low:  (pure)
high: low @pkg   # a comment
`

const found = (files: Record<string, string>) => violations(new Map(Object.entries(files)), readTable(TABLE))
const used = {
  'high/a.ts': "import { b } from '../low/b.ts'\nimport pkg from '@pkg/x'",
  'low/b.ts': 'export const b = 1',
}

it('the layers check finds nothing in code that keeps to the table', () => {
  expect(found(used)).toEqual([])
})

it.each([
  ['an arrow back', { 'low/c.ts': "import type { a } from '../high/a.ts'" }, 'low does not import high'],
  ['a package of another layer', { 'low/c.ts': "import pkg from '@pkg/x'" }, 'low does not use @pkg'],
  ['I/O in a pure layer', { 'low/c.ts': "import { readFile } from 'node:fs/promises'" }, 'is pure and imports node:fs'],
  [
    'a random number in a pure layer',
    { 'low/c.ts': "import { createHash, randomUUID } from 'node:crypto'" },
    'node:crypto',
  ],
  [
    'a file that calls itself pure and is not',
    { 'high/c.ts': "// Does it. Pure.\nimport { a } from './a.ts'" },
    'is pure',
  ],
  ['an import at run time', { 'low/c.ts': "const a = await import('../high/a.ts')" }, 'low does not import high'],
  ['a folder without a row', { 'new/c.ts': '' }, 'no row'],
])('the layers check finds %s', (_, files, expected) => {
  expect(found({ ...used, ...files }).join('\n')).toContain(expected)
})

it('the layers check lets a pure file hash, and import types from anywhere it may import', () => {
  expect(
    found({ ...used, 'low/c.ts': "import { createHash } from 'node:crypto'\nimport type { Stats } from 'node:fs'" }),
  ).toEqual([])
})

it('the layers check finds rows that nothing uses, rows of missing folders, and cycles', () => {
  const loop = readTable('low: high\nhigh: low gone')
  const text = violations(new Map(Object.entries(used)), loop).join('\n')
  expect(text).toContain('low may import high and does not')
  expect(text).toContain('high may import gone, which has no row')
  expect(text).toContain('a cycle: low → high → low')
})
