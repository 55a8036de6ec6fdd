import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { needsLinks } from '../../test/support/suite/needs.ts'
import { areUnchanged, PlacesSeen } from './places-seen.ts'
import { newFolder } from '../../test/support/machine/new-folder.ts'

let folder: string

beforeEach(() => {
  folder = newFolder()
})

const at = (...names: string[]) => path.join(folder, ...names)

/** Makes folders look unchanged for a while: a folder that changed a moment ago is searched each time. */
function settle(...folders: string[]): void {
  for (const one of folders) utimesSync(one, 1_000, 1_000)
}

function noted(...places: string[]): PlacesSeen {
  const seen = new PlacesSeen()
  for (const place of places) seen.note(place)
  expect(seen.hasChanged()).toBe(false)
  return seen
}

it.each(['settled', 'new'])('a file that comes into being in a %s folder is a change', (kind) => {
  if (kind === 'settled') settle(folder)
  const seen = noted(at('a.json'), at('b.json'))
  writeFileSync(at('b.json'), '{}')
  expect(seen.hasChanged()).toBe(true)
})

it.each(['settled', 'new'])(
  'a file is a change also where its folders come into being one by one in a %s one',
  (kind) => {
    if (kind === 'settled') settle(folder)
    const seen = noted(at('x', 'y', 'a.json'))
    mkdirSync(at('x'))
    if (kind === 'settled') settle(at('x'))
    expect(seen.hasChanged()).toBe(false)
    mkdirSync(at('x', 'y'))
    if (kind === 'settled') settle(at('x', 'y'))
    expect(seen.hasChanged()).toBe(false)
    writeFileSync(at('x', 'y', 'a.json'), '{}')
    expect(seen.hasChanged()).toBe(true)
  },
)

it('a file of another name in the folder is no change, however often it is asked', () => {
  settle(folder)
  const seen = noted(at('a.json'))
  writeFileSync(at('other.json'), '{}')
  expect(seen.hasChanged()).toBe(false)
  expect(seen.hasChanged()).toBe(false)
  writeFileSync(at('a.json'), '{}')
  expect(seen.hasChanged()).toBe(true)
})

it('a file is a change also where its folder was taken away and comes back with it', () => {
  mkdirSync(at('x'))
  settle(at('x'), folder)
  const seen = noted(at('x', 'a.json'))
  renameSync(at('x'), at('away'))
  expect(seen.hasChanged()).toBe(false)
  writeFileSync(at('away', 'a.json'), '{}')
  renameSync(at('away'), at('x'))
  expect(seen.hasChanged()).toBe(true)
})

it('what a link leads to is a change when it comes into being in another folder', () => {
  needsLinks()
  mkdirSync(at('elsewhere'))
  symlinkSync(at('elsewhere', 'a.json'), at('a.json'))
  settle(folder)
  const seen = noted(at('a.json'))
  writeFileSync(at('elsewhere', 'a.json'), '{}')
  expect(seen.hasChanged()).toBe(true)
})

it('a file that was there is a change when it is written or removed', () => {
  writeFileSync(at('a.json'), '{}')
  const seen = noted(at('a.json'))
  writeFileSync(at('a.json'), '{"a": 1}')
  expect(seen.hasChanged()).toBe(true)
  const again = noted(at('a.json'))
  rmSync(at('a.json'))
  expect(again.hasChanged()).toBe(true)
})

it('a file is a change when it came into being after it was noted, also where it is noted again', () => {
  settle(folder)
  const seen = noted(at('a.json'))
  writeFileSync(at('a.json'), '{}')
  seen.note(at('a.json'))
  expect(seen.hasChanged()).toBe(true)
})

it('another process sees from the states of all places whether one has changed', () => {
  writeFileSync(at('there.json'), '{}')
  settle(folder)
  const seen = noted(at('there.json'))
  seen.note(at('missing.json'))
  const states = JSON.parse(JSON.stringify(seen.states())) as Record<string, string>
  expect(areUnchanged(states)).toBe(true)
  writeFileSync(at('missing.json'), '{}')
  expect(areUnchanged(states)).toBe(false)
  rmSync(at('missing.json'))
  expect(areUnchanged(states)).toBe(true)
  writeFileSync(at('there.json'), '{"a": 1}')
  expect(areUnchanged(states)).toBe(false)
})

it('what is not there is not read, and one that came into being since is a change', async () => {
  const asked: string[] = []
  const seen = new PlacesSeen()
  const files = seen.noting({
    readFile: async (file) => (asked.push(file), Buffer.from('{}')),
    readdir: async (place) => (asked.push(place), []),
  })
  writeFileSync(at('there.json'), '{}')
  settle(folder)
  await expect(files.readFile(at('missing.json'))).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(files.readdir(at('missing'))).rejects.toMatchObject({ code: 'ENOENT' })
  await files.readFile(at('there.json'))
  await files.readdir(folder)
  expect(asked).toEqual([at('there.json'), folder])
  expect(seen.hasChanged()).toBe(false)
  mkdirSync(at('missing'))
  expect(seen.hasChanged()).toBe(true)
})

it('a file that comes into being while the others are looked at is a change', () => {
  class Slow extends PlacesSeen {
    override note(place: string): boolean {
      if (isLooking) writeFileSync(at('a.json'), '{}')
      return super.note(place)
    }
  }
  let isLooking = false
  const seen = new Slow()
  for (const name of ['a.json', 'b.json']) seen.note(at(name))
  // Control: nothing has changed yet.
  expect(seen.hasChanged()).toBe(false)
  isLooking = true
  expect(seen.hasChanged()).toBe(true)
})
