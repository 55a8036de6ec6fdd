// This file verifies that whatever arguments are called, a call has a line in the record.
import { describe, expect, it } from 'vitest'
import type { CallFlow, EventOf } from '../../../core/src/observe/events/event.ts'
import { Ledger } from '../../../core/src/observe/runs/ledger.ts'
import { callFields } from './record-fields.ts'

const OPTIONS = { full: true, replay: false, redact: (_server: string, text: string) => text }

function flowOf(from: CallFlow['from'], isNamed?: (name: string) => boolean, full = true): unknown {
  const args = {}
  const stamp = { at: 0, id: 'i', kind: 'tool', server: 's', name: 'n', args } as const
  const started = {
    ...stamp,
    type: 'call.started',
    flow: { from, seen: ['s'] },
    isNamed,
  } as unknown as EventOf<'call.started'>
  const { call } = new Ledger().take(started)
  return (callFields(started, call!, { ...OPTIONS, full })['flow'] as CallFlow).from
}

describe('the origins of the arguments of a call', () => {
  it('stand under the names of the arguments, also those that every object of JavaScript has', () => {
    const from = Object.fromEntries(
      ['constructor', '__proto__', 'toString', 'to'].map((name) => [name, ['mail.read', 'mail.read']]),
    )
    expect(Object.entries(flowOf(from) as object)).toEqual(
      ['constructor', '__proto__', 'toString', 'to'].map((name) => [name, ['mail.read']]),
    )
  })

  it('stand under * where the definition has no such argument, or a call has very many', () => {
    expect(flowOf({ to: ['a'], secret: ['b'], other: ['a'] }, (name) => name === 'to', false)).toEqual({
      to: ['a'],
      '*': ['b', 'a'],
    })
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`${index}`.padStart(500, 'x'), ['a']]))
    expect(JSON.stringify(flowOf(many)).length).toBeLessThan(10_000)
  })
})
