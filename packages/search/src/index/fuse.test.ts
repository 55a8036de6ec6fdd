import { expect, it } from 'vitest'
import { fuse } from './fuse.ts'

function fused(rankings: string[][], limit: number, ...learned: [likeness: number, ...items: string[]][]): string[] {
  const all = rankings.map((items) => ({ items, say: 1 }))
  return fuse([...all, ...learned.map(([say, ...items]) => ({ items, say }))], limit)
}

it('one ranking stays as it is, up to the limit', () => {
  expect(fused([['a', 'b', 'c']], 2)).toEqual(['a', 'b'])
  expect(fused([], 5)).toEqual([])
})

it('a tool that several wordings find in the middle comes before one that a single wording finds first', () => {
  const rankings = [
    ['one', 'wanted'],
    ['two', 'wanted'],
    ['three', 'wanted'],
  ]
  expect(fused(rankings, 10)).toEqual(['wanted', 'one', 'two', 'three'])
})

it('three wordings of one need do not crowd out another need', () => {
  const issue = ['create', 'update', 'list', 'get', 'search', 'close']
  expect(fused([issue, issue, issue, ['weather', 'forecast']], 5)).toContain('weather')
})

it('five needs share five places', () => {
  const needs = ['a', 'b', 'c', 'd', 'e'].map((need) => [`${need}1`, `${need}2`])
  expect(fused(needs, 5)).toEqual(['a1', 'b1', 'c1', 'd1', 'e1'])
})

const FOUND = ['a', 'b', 'c', 'd', 'e']

it('a tool that an equal search led to comes first', () => {
  expect(fused([FOUND], 5, [1, 'd'])).toEqual(['d', 'a', 'b', 'c', 'e'])
})

it('a tool that a search like it led to takes a place even if this one did not find it', () => {
  expect(fused([FOUND], 5, [0.9, 'x'])).toEqual(['a', 'x', 'b', 'c', 'd'])
})

it('what ranks first by its words stays among the first two, whatever was learned', () => {
  expect(fused([FOUND], 5, [1, 'c', 'd', 'e']).slice(0, 2)).toEqual(['c', 'a'])
  expect(fused([['a']], 5, [1, 'c', 'd', 'e'])).toEqual(['a', 'c', 'd', 'e'])
  expect(fused([[]], 2, [1, 'c', 'd', 'e'])).toEqual(['c', 'd'])
})
