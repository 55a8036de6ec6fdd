import { utimesSync } from 'node:fs'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { residentPlace, type ResidentPlace } from '../reach/run-folder.ts'
import { mayStart } from './start-resident.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** The place of a resident that another relay began to start so many seconds ago. */
function startedAgo(seconds: number): ResidentPlace {
  vi.useFakeTimers({ toFake: ['Date'] })
  const folder = newFolder()
  const place = { ...residentPlace(folder, '0123456789abcdef0123'), starting: path.join(folder, 'x.start') }
  expect(mayStart(place)).toBe(true)
  const at = Date.now() / 1000 - seconds
  utimesSync(place.starting, at, at)
  return place
}

it('one relay starts the resident', () => {
  expect(mayStart(startedAgo(0))).toBe(false)
})

it.each([
  ['an hour ago', 3_600],
  ['in an hour, by a clock that was set back since', -3_600],
])('a start that began %s keeps no relay from starting the resident', (_, seconds) => {
  const place = startedAgo(seconds)
  expect(mayStart(place)).toBe(true)
  // It is the start of this relay now.
  expect(mayStart(place)).toBe(false)
})
