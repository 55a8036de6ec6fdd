import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { stillRuns, thisProcess } from './process-id.ts'

const GONE = 4_194_305

it('a recorded process of this machine runs while its id exists with the same start', () => {
  const own = thisProcess()
  // Only Linux tells the start of a process.
  const isKnown = existsSync('/proc/self/stat')
  expect(stillRuns(own)).toBe(isKnown ? true : undefined)
  expect(stillRuns({ ...own, pid: GONE })).toBe(false)
  expect(stillRuns({ ...own, started: 'another boot 1' })).toBe(isKnown ? false : undefined)
})

it('whether a process of another machine runs, or one of unknown start, cannot be known', () => {
  const own = thisProcess()
  expect(stillRuns({ ...own, host: 'another-machine' })).toBeUndefined()
  expect(stillRuns({ host: own.host, pid: own.pid })).toBeUndefined()
  expect(stillRuns({ host: own.host, pid: GONE })).toBe(false)
})
