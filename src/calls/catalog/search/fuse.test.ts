import { expect, it } from 'vitest'
import { fuse } from './fuse.ts'

it('one ranking stays as it is, up to the limit', () => {
  expect(fuse([['a', 'b', 'c']], 2)).toEqual(['a', 'b'])
  expect(fuse([], 5)).toEqual([])
})

it('a tool that several wordings find in the middle comes before one that a single wording finds first', () => {
  const rankings = [
    ['one', 'wanted'],
    ['two', 'wanted'],
    ['three', 'wanted'],
  ]
  expect(fuse(rankings, 10)).toEqual(['wanted', 'one', 'two', 'three'])
})

it('three wordings of one need do not crowd out another need', () => {
  const issue = ['create', 'update', 'list', 'get', 'search', 'close']
  expect(fuse([issue, issue, issue, ['weather', 'forecast']], 5)).toContain('weather')
})

it('five needs share five places', () => {
  const needs = ['a', 'b', 'c', 'd', 'e'].map((need) => [`${need}1`, `${need}2`])
  expect(fuse(needs, 5)).toEqual(['a1', 'b1', 'c1', 'd1', 'e1'])
})
