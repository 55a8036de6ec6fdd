import { expect, it } from 'vitest'
import { fuseLearned } from './fuse-learned.ts'

const FOUND = ['a', 'b', 'c', 'd', 'e']

it('a tool that an equal search led to comes first', () => {
  expect(fuseLearned(FOUND, [{ item: 'd', likeness: 1 }], 5)).toEqual(['d', 'a', 'b', 'c', 'e'])
})

it('a tool that the search did not find takes a place as well', () => {
  expect(fuseLearned(FOUND, [{ item: 'x', likeness: 0.9 }], 5)).toEqual(['a', 'x', 'b', 'c', 'd'])
})

it('what ranks first by its words stays among the first two', () => {
  const learned = ['c', 'd', 'e'].map((item) => ({ item, likeness: 1 }))
  expect(fuseLearned(FOUND, learned, 5).slice(0, 2)).toEqual(['c', 'a'])
  expect(fuseLearned(['a'], learned, 5)).toEqual(['a', 'c', 'd', 'e'])
  expect(fuseLearned([], learned, 2)).toEqual(['c', 'd'])
})
