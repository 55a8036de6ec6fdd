import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { keepText, readKeptText } from './kept-text.ts'

it('a hundred texts of a folder are kept: those that were written last', () => {
  const parent = mkdtempSync(path.join(tmpdir(), 'sb-'))
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }))
  const folder = path.join(parent, 'kept')
  const file = (number: number) => path.join(folder, `${number}.json`)
  for (let number = 0; number < 100; number += 1) {
    keepText(file(number), `text ${number}`)
    utimesSync(file(number), 1_700_000_000 + number, 1_700_000_000 + number)
  }
  writeFileSync(path.join(folder, 'other.txt'), '')
  // The oldest is written again.
  keepText(file(0), 'again')
  expect(readdirSync(folder)).toHaveLength(101)
  keepText(file(100), 'new')
  expect(readdirSync(folder)).toHaveLength(101)
  expect(readKeptText(file(1))).toBeUndefined()
  expect([0, 2, 100].map((number) => readKeptText(file(number)))).toEqual(['again', 'text 2', 'new'])
})
