import { expect, it } from 'vitest'
import type { BridgeEvent, CallFlow } from '@sandbridge/core/observe/events/event.ts'
import { pageEvent } from './page-event.ts'
import { applyEvent, emptyState } from './page-state.ts'

const stamp = { seq: 1, at: 1, mono: 1 }
const cell = {
  type: 'cell.started',
  id: 'cell',
  session: 's',
  number: 1,
  code: '1',
  timeoutMs: 1,
  provider: 'pyodide',
  servers: [],
  ...stamp,
} as unknown as BridgeEvent
const call = { id: 'call', parent: 'cell', kind: 'tool', server: 'files', name: 'send', ...stamp } as const

function shownOf(event: BridgeEvent): CallFlow | undefined {
  const state = emptyState()
  for (const one of [cell, event]) applyEvent(state, pageEvent(one)!)
  return state.cells.get('cell')!.calls[0]!.flow
}

it('the page gets where the arguments of a call came from, also of a denied one', () => {
  const flow = { from: { to: ['mail.get'] }, seen: ['mail'] }
  expect(shownOf({ ...call, type: 'call.started', args: { to: 'a' }, flow })).toEqual(flow)
  expect(shownOf({ ...call, type: 'call.decided', decision: 'deny', flow })).toEqual(flow)
  // Control: nothing is said of a call whose arguments the model wrote.
  expect(shownOf({ ...call, type: 'call.started', args: {}, flow: { from: {}, seen: [] } })).toBeUndefined()
})

it('the page gets a bounded part of what a hostile cell sends as arguments', () => {
  const from = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`${at}`.padEnd(5_000, 'x'), ['mail.get']]))
  expect(
    JSON.stringify(shownOf({ ...call, type: 'call.started', args: {}, flow: { from, seen: [] } })).length,
  ).toBeLessThan(20_000)
})
