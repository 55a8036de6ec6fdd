import { expect, it } from 'vitest'
import { proposals, type RecordedCall } from './listing-notes.ts'

/** Cells, each with the tools that it called. */
const cells = (...made: string[][]): RecordedCall[] =>
  made.flatMap((tools, cell) => tools.map((tool) => ({ cell: String(cell), server: 'hub', tool })))
const times = (count: number, ...tools: string[]): string[][] => Array.from({ length: count }, () => tools)

it('a tool that most of its cells call alone is proposed for the list', () => {
  expect(proposals(cells(...times(8, 'get'), ...times(2, 'get', 'list')), [])).toEqual([
    'hub.get was called alone in 8 of 10 cells: "direct": ["get"] in the entry of hub saves a cell each time.',
  ])
})

it.each([
  ['is called beside others in most', cells(...times(5, 'get'), ...times(6, 'get', 'list')), []],
  ['was called by few cells', cells(...times(9, 'get')), []],
  ['is listed already', cells(...times(20, 'get')), [{ server: 'hub', name: 'get' }]],
])('a tool that %s is not proposed', (_, calls, listed) => {
  expect(proposals(calls, listed)).toEqual([])
})

it('a listed tool that nobody calls is named, once there are calls to compare it with', () => {
  const listed = ['get', 'a', 'b', 'c', 'd'].map((name) => ({ server: 'hub', name }))
  expect(proposals(cells(...times(10, 'get')), listed)).toEqual([
    'Listed, and not called for 21 days: hub.a, hub.b, hub.c and 1 more.',
  ])
  expect(proposals([], listed)).toEqual([])
})
