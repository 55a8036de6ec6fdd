import { expect, it } from 'vitest'
import type { BridgeEvent, CallFlow } from '../../core/src/observe/events/event.ts'
import { Ledger } from '../../core/src/observe/runs/ledger.ts'
import { pageEvent } from './page-event.ts'

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
  sandbox: 's',
  ...stamp,
} satisfies BridgeEvent
const call = { id: 'call', parent: 'cell', kind: 'tool', server: 'files', name: 'send', ...stamp } as const

function shownOf(event: BridgeEvent): CallFlow | undefined {
  const ledger = new Ledger({ runs: 1, chars: 1e6 })
  for (const one of [cell, event]) ledger.take(pageEvent(one)!)
  return ledger.runs.get('cell')!.calls[0]!.flow
}

it('the page gets where the arguments of a call came from, also of a denied one', () => {
  const flow = { from: { to: ['mail.get'] }, seen: ['mail'] }
  expect(shownOf({ ...call, type: 'call.started', args: { to: 'a' }, flow })).toEqual(flow)
  expect(shownOf({ ...call, type: 'call.decided', decision: 'deny', flow })).toEqual(flow)
  // Control: nothing is said of a call whose arguments the model wrote.
  expect(shownOf({ ...call, type: 'call.started', args: {}, flow: { from: {}, seen: [] } })).toBeUndefined()
})

it('the page gets a bounded part of what a hostile cell sends as arguments, code, output, values and errors', () => {
  const long = 'x'.repeat(5_000_000)
  const from = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`${at}`.padEnd(5_000, 'x'), ['mail.get']]))
  const bundle = { 'text/plain': long, 'text/html': long, 'image/png': long }
  const ended = { ...cell, type: 'cell.ended', status: 'error', durationMs: 1, stateLost: false } as const
  const events: BridgeEvent[] = [
    { ...call, type: 'call.started', args: { long }, flow: { from, seen: [] } },
    { ...call, type: 'call.ended', outcome: 'failed', durationMs: 1, error: { code: 'X', message: long } },
    { ...call, type: 'call.ended', outcome: 'ok', durationMs: 1, result: { content: [{ type: 'text', text: long }] } },
    { ...call, type: 'call.progress', done: 1, message: long },
    { ...cell, type: 'cell.display', data: bundle },
    { ...ended, value: bundle, raised: { name: 'E', message: long } },
    { ...cell, type: 'cell.output', stream: 'stdout', text: long },
    { ...cell, code: long },
  ]
  for (const event of events) expect(JSON.stringify(pageEvent(event)).length, event.type).toBeLessThan(150_000)
})

it('the page gets no event of sandboxes and requests', () => {
  const run = { type: 'run.started', id: 'r', tool: 'run_python', transport: 'pipe', ...stamp } as const
  const sandbox = { type: 'sandbox.ended', id: 's', provider: 'p', reason: 'disposed', ...stamp } as const
  expect([run, sandbox, cell].map((event) => pageEvent(event)?.type)).toEqual([undefined, undefined, 'cell.started'])
})
