// This file verifies the one model of runs: what is kept of a run while it is open and after its end, and how its calls
// are counted.
import { expect, it } from 'vitest'
import type { BridgeEvent, Events } from '../events/event.ts'
import { Ledger } from './ledger.ts'
import type { Run } from './run.ts'

const stamp = { seq: 1, at: 1, mono: 1 }
const about = { parent: 'cell', kind: 'tool', server: 'files' } as const
const KEEPS = { runs: 100, chars: 1e6 }

function started(id: string, parent?: string): BridgeEvent {
  const cell = { number: 1, code: '1', timeoutMs: 1, provider: 'pyodide', servers: [], sandbox: 's' }
  return { type: 'cell.started', id, parent, session: 's', client: 'c', ...cell, ...stamp }
}
const printed = (id: string, text: string): BridgeEvent => ({
  type: 'cell.output',
  id,
  stream: 'stdout',
  text,
  ...stamp,
})
const ended = (id: string, parent?: string): BridgeEvent => ({
  type: 'cell.ended',
  id,
  parent,
  status: 'ok',
  durationMs: 1,
  stateLost: false,
  ...stamp,
})
const request = (id: string): BridgeEvent => ({
  type: 'run.started',
  id,
  tool: 'run_python',
  transport: 'pipe',
  client: 'c',
  ...stamp,
})
const answered = (id: string): BridgeEvent => ({
  type: 'run.ended',
  id,
  outcome: 'ok',
  durationMs: 2,
  content: [{ type: 'text', text: 'four' }],
  ...stamp,
})

/** A cell that has begun, and functions that make its calls. */
function openCell(keeps = KEEPS) {
  const ledger = new Ledger(keeps)
  ledger.take(started('cell'))
  const start = (id: string) =>
    ledger.take({ type: 'call.started', id, name: 'read', args: {}, ...about, ...stamp }).call!
  const end = (id: string, outcome: Events['call.ended']['outcome'] = 'ok', code?: string) => {
    const result = code === undefined ? { content: [{ type: 'text', text: 'twelve chars' }] } : undefined
    const error = code === undefined ? undefined : { code, message: 'm' }
    ledger.take({ type: 'call.ended', id, name: 'read', ...about, outcome, durationMs: 1, result, error, ...stamp })
  }
  const deny = (id: string) =>
    ledger.take({ type: 'call.decided', id, name: 'send', decision: 'deny', ...about, ...stamp }).call!
  const run = (): Run => ledger.runs.get('cell')!
  return { ledger, start, end, deny, run }
}

it('the ledger keeps the last calls of a cell that makes more than are kept, and those that are still open', () => {
  const { start, end, deny, run } = openCell()
  start('open')
  for (let number = 0; number < 1_500; number += 1) {
    start(`call-${number}`)
    end(`call-${number}`)
  }
  deny('denied')
  const { calls, callCount } = run()
  expect(callCount).toBe(1_502)
  expect(calls).toHaveLength(1_000)
  expect([calls[0]!.id, calls[1]!.id]).toEqual(['open', 'call-502'])
  expect(calls.slice(-2).map(({ id, outcome }) => [id, outcome])).toEqual([
    ['call-1499', 'ok'],
    ['denied', 'denied'],
  ])
  end('open')
  expect(run().calls[0]).toMatchObject({ id: 'open', outcome: 'ok' })
})

it('the ledger keeps the last calls of a cell where all are open', () => {
  const { start, run } = openCell()
  for (let number = 0; number < 1_200; number += 1) start(`call-${number}`)
  expect(run().calls).toHaveLength(1_000)
  expect(run().calls.at(-1)!.id).toBe('call-1199')
})

it('the ledger counts all denied calls, also those that are not kept', () => {
  const { start, end, deny, run } = openCell()
  for (let number = 0; number < 3; number += 1) deny(`denied-${number}`)
  for (let number = 0; number < 1_200; number += 1) {
    start(`call-${number}`)
    end(`call-${number}`)
  }
  expect(run().calls.some(({ outcome }) => outcome === 'denied')).toBe(false)
  expect(run().deniedCount).toBe(3)
})

it.each<[string, Events['call.ended']['outcome'], string | undefined, string]>([
  ['has a result', 'ok', undefined, 'answered'],
  ['has a result that is marked as an error', 'tool_error', undefined, 'answered'],
  ['was refused by its server', 'failed', 'TOOL_FAILED', 'answered'],
  ['was not answered in time', 'failed', 'UPSTREAM_TIMEOUT', 'unknown'],
  ['lost its server', 'failed', 'UPSTREAM_UNREACHABLE', 'unknown'],
  ['was cancelled', 'cancelled', 'CANCELLED', 'unknown'],
  ['must be signed in for', 'failed', 'UPSTREAM_AUTH_REQUIRED', 'unsent'],
  ['could not be recorded first', 'failed', 'STATE_UNWRITABLE', 'unsent'],
])('the ledger says whether a call was answered that %s', (_, outcome, code, state) => {
  const { start, end, deny } = openCell()
  const call = start('call')
  expect(call.state).toBe('sent')
  end('call', outcome, code)
  expect(call.state).toBe(state)
  expect(deny('other').state).toBe('unsent')
})

it('the ledger of all events has a run until its client is answered, and what the run cost', () => {
  const ledger = new Ledger()
  const events = [request('r'), started('c', 'r')].map((event) => ledger.take(event))
  const open = { type: 'call.started', id: 'call', name: 'read', args: {}, ...about, parent: 'c', ...stamp } as const
  const { call } = ledger.take(open)
  expect(ledger.state.runs).toMatchObject([{ id: 'c', run: 'r', status: 'running', calls: [{ id: 'call' }] }])
  const result = { content: [{ type: 'text', text: 'twelve chars' }] }
  ledger.take({ ...open, type: 'call.ended', outcome: 'ok', durationMs: 1, result })
  const { run } = ledger.take(ended('c', 'r'))
  expect([ledger.runs.size, run!.calls]).toEqual([1, []])
  ledger.take(answered('r'))
  expect(ledger.runs.size).toBe(0)
  expect(events.every((told) => told.run === run)).toBe(true)
  expect(run).toMatchObject({ status: 'ok', callCount: 1, calledChars: 12, returnedChars: 4 })
  expect(call).toMatchObject({ outcome: 'ok', state: 'answered' })
})

it('the ledger pairs the end of a call that outlasts its run', () => {
  const { ledger, start } = openCell({ runs: 0, chars: 0 })
  const call = start('late')
  ledger.take(ended('cell'))
  const end = { type: 'call.ended', id: 'late', name: 'read', ...about, outcome: 'cancelled', durationMs: 1 } as const
  expect(ledger.take({ ...end, ...stamp }).call).toBe(call)
})

it('another ledger goes on with what one has', () => {
  const { ledger, start } = openCell()
  start('open')
  ledger.take(printed('cell', 'before'))
  const other = Ledger.from(structuredClone(ledger.state), KEEPS)
  other.take(printed('cell', ' and after'))
  other.take({ type: 'call.ended', id: 'open', name: 'read', ...about, outcome: 'ok', durationMs: 1, ...stamp })
  expect(other.runs.get('cell')).toMatchObject({
    parts: [{ kind: 'stdout', text: 'before and after' }],
    calls: [{ id: 'open', outcome: 'ok' }],
  })
})

it('the ledger keeps the outline of runs whose output no longer fits', () => {
  const ledger = new Ledger({ runs: 100, chars: 1_000 })
  for (const id of ['a', 'b', 'c'])
    for (const event of [started(id), printed(id, 'x'.repeat(400)), ended(id)]) ledger.take(event)
  const kept = [...ledger.runs.values()].map(({ parts, dropped }) => [parts.length, dropped])
  expect(kept).toEqual([
    [0, 400],
    [1, 0],
    [1, 0],
  ])
  expect([...ledger.runs.keys()]).toEqual(['a', 'b', 'c'])
})

it('the ledger forgets the oldest runs when there are too many', () => {
  const ledger = new Ledger({ runs: 2, chars: 1_000 })
  for (const id of ['a', 'b', 'c']) ledger.take(started(id))
  expect([...ledger.runs.keys()]).toEqual(['b', 'c'])
})

it('the ledger keeps 256 KiB of what a cell prints, and counts the rest', () => {
  const { ledger, run } = openCell()
  for (let index = 0; index < 10; index += 1) ledger.take(printed('cell', 'x'.repeat(100_000)))
  const { kept, dropped } = run()
  expect([kept, kept + dropped]).toEqual([256 * 1024, 1_000_000])
})
