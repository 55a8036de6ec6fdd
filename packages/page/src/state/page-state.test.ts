// This file verifies which calls of a cell the page keeps, and how it counts the others.
import { expect, it } from 'vitest'
import { applyEvent, type CellView, emptyState } from './page-state.ts'
import { isWanted, rowOf } from './run-row.ts'

const stamp = { seq: 1, at: 1, mono: 1 }
const about = { parent: 'cell', kind: 'tool', server: 'files' }

/** A cell that has begun, and functions that make its calls. */
function openCell() {
  const state = emptyState()
  const cell = { id: 'cell', session: 's', client: 'c', number: 1, code: '1', timeoutMs: 1, provider: 'pyodide' }
  applyEvent(state, { type: 'cell.started', ...cell, ...stamp })
  const start = (id: string) =>
    applyEvent(state, { type: 'call.started', id, name: 'read', args: '', ...about, ...stamp })
  const end = (id: string) => {
    const ended = { outcome: 'ok', durationMs: 1, result: 'done', error: undefined }
    applyEvent(state, { type: 'call.ended', id, parent: 'cell', ...ended, ...stamp })
  }
  const deny = (id: string) =>
    applyEvent(state, { type: 'call.denied', id, name: 'send', rule: '', ...about, ...stamp })
  const view = (): CellView => state.cells.get('cell')!
  return { start, end, deny, view }
}

it('keeps the last calls of a cell that makes more than are kept, and those that are still open', () => {
  const { start, end, deny, view } = openCell()
  start('open')
  for (let number = 0; number < 1_500; number += 1) {
    start(`call-${number}`)
    end(`call-${number}`)
  }
  deny('denied')
  const { calls, callCount } = view()
  expect(callCount).toBe(1_502)
  expect(calls).toHaveLength(1_000)
  expect([calls[0]!.id, calls[1]!.id]).toEqual(['open', 'call-502'])
  expect(calls.slice(-2).map(({ id, outcome }) => [id, outcome])).toEqual([
    ['call-1499', 'ok'],
    ['denied', 'denied'],
  ])
  end('open')
  expect(view().calls[0]).toMatchObject({ id: 'open', outcome: 'ok' })
})

it('keeps the last calls of a cell where all are open', () => {
  const { start, view } = openCell()
  for (let number = 0; number < 1_200; number += 1) start(`call-${number}`)
  expect(view().calls).toHaveLength(1_000)
  expect(view().calls.at(-1)!.id).toBe('call-1199')
})

it('counts all denied calls, also those that are not kept', () => {
  const { start, end, deny, view } = openCell()
  for (let number = 0; number < 3; number += 1) deny(`denied-${number}`)
  for (let number = 0; number < 1_200; number += 1) {
    start(`call-${number}`)
    end(`call-${number}`)
  }
  expect(view().calls.some(({ outcome }) => outcome === 'denied')).toBe(false)
  expect(rowOf(view()).deniedCount).toBe(3)
  expect(isWanted(view(), { denied: true })).toBe(true)
})
