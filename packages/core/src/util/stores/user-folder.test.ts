import path from 'node:path'
import { expect, it } from 'vitest'
import { userFolder } from './stored-name.ts'

const NAMES = [
  'ann',
  'ben',
  'con-1',
  'https://a.example#ann',
  'https://b.example#ann',
  'https://a.example#Ann',
  'https://a.example#../../ben',
  'https://a.example#..',
  'https://a.example#',
  'x#users/ann',
  '..',
  '.',
  '',
  'Ann',
  'https://a.example#ann/../ben',
  'https://a.example#a\\b',
  `https://a.example#${'x'.repeat(255)}`,
]

it('every user has a folder of their own below the folder of users', () => {
  const folders = NAMES.map((name) => userFolder('/state', name))
  expect(new Set(folders.map((folder) => folder.toLowerCase())).size).toBe(NAMES.length)
  for (const folder of folders) {
    expect(path.dirname(folder)).toBe(path.join('/state', 'users'))
    expect(path.basename(folder)).toMatch(/^[@a-z0-9][a-z0-9_-]*$/)
  }
})

it('the owner of the bridge has the whole state folder', () => {
  expect(userFolder('/state', undefined)).toBe('/state')
})

it('the folder of a signed-in user cannot be that of a named token', () => {
  const folder = path.basename(userFolder('/state', 'https://a.example#ann'))
  expect(folder).toMatch(/^@ann-[\da-f]{32}$/)
})
