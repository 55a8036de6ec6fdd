import { expect, it, vi } from 'vitest'
import { tightMemory } from './tight-memory.ts'

it.each([
  [64, /use 64 MB .* needs 96 MB/],
  [96, /^$/],
  // No limit, as different versions of Linux say it.
  [0, /^$/],
  [2 ** 44, /^$/],
])('a limit of %s MB says what is needed where it is too little', (mb, told) => {
  vi.spyOn(process, 'constrainedMemory').mockReturnValue(mb * 2 ** 20)
  expect(tightMemory()).toMatch(told)
})
