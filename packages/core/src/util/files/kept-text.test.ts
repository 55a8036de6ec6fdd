import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { keepText, readKeptText } from './kept-text.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

it('a hundred texts of a folder are kept: those that were written last', () => {
  const parent = newFolder()
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
