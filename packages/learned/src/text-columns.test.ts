// This file verifies the columns of texts with the same cases as packages/core/test/kernel/python/test_rows.py.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { columnsOf } from './text-columns.ts'

const FILE = path.join(import.meta.dirname, '../../core/test/fixtures/rows.json')
const cases = JSON.parse(readFileSync(FILE, 'utf8')) as { text: string; columns: string[] | null }[]

it.each(cases)('the columns of $text', ({ text, columns }) => {
  expect(columnsOf(text) ?? null).toEqual(columns)
})

it.each([
  '|'.repeat(200_000),
  `[A] ${'x '.repeat(200_000)}`,
  'a'.repeat(400_000),
  `${'-'.repeat(300_000)}|`,
  ' '.repeat(400_000),
  `|${'a'.repeat(9_000)}\n---${' '.repeat(300_000)}x`,
  `a|b\n---${' '.repeat(8_000)}x\n`,
  `a${'\n'.repeat(8_000)}b\n`,
  `${'a'.repeat(9_000)}${'\n'.repeat(300_000)}b`,
])('a long text does not keep the bridge busy', (text) => {
  columnsOf(text)
  columnsOf(`${text}\n${text}`)
})
