import { expect, it } from 'vitest'
import type { BridgeEvent } from '../../../core/src/observe/events/event.ts'
import type { DailyCosts } from './daily-costs.ts'
import { CostCounter } from './cost-counter.ts'
import { toldOf } from '@sandbridge/core/test/support/suite/told.ts'

const DAY = Date.parse('2026-11-22T10:00:00Z')
/** Of a call: 100 tokens, which stay in the sandbox. */
const RESULT = { content: [{ type: 'text', text: 'word'.repeat(100) }] }
const NEXT = DAY + 24 * 60 * 60_000

function counter(keep?: (more: DailyCosts) => Promise<void>) {
  const kept: [string, object][][] = []
  const errors: unknown[] = []
  const counted = new CostCounter({
    listedTokens: () => Promise.resolve(1_000),
    keep: keep ?? ((more) => Promise.resolve(void kept.push([...more]))),
    onError: (error) => errors.push(error),
  })
  let seq = 0
  const stamp = (at: number) => ({ at, mono: 0, seq: (seq += 1) })
  const run = (session: string, at: number, text: string, tool = 'run_python'): BridgeEvent[] => {
    const id = `run-${seq}`
    const call = { id: `call-${seq}`, parent: `cell-${seq}`, kind: 'tool', server: 's', name: 't' } as const
    const cell = { code: '', number: 1, servers: [], timeoutMs: 1, sandbox: '', provider: '' }
    return [
      { type: 'run.started', id, tool, transport: 'pipe', ...stamp(at) },
      { type: 'cell.started', id: call.parent, parent: id, session, ...cell, ...stamp(at) },
      { type: 'call.started', args: {}, ...call, ...stamp(at) },
      { type: 'call.ended', ...call, outcome: 'ok', durationMs: 1, result: RESULT, ...stamp(at) },
      { type: 'run.ended', id, outcome: 'ok', durationMs: 1, content: [{ type: 'text', text }], ...stamp(at) },
    ]
  }
  return { counted, kept, errors, run }
}

it('the cost counter counts each conversation once a day, with the tools that it would have listed', async () => {
  const { counted, kept, run } = counter()
  const texts = [...run('a', DAY, 'one two'), ...run('a', DAY, 'three'), ...run('b', DAY, ''), ...run('a', NEXT, '')]
  counted.receive(toldOf(texts))
  await counted.close()
  expect(kept).toEqual([
    [
      ['2026-11-22', { conversations: 2, returned: 4, called: 300, listed: 2_000 }],
      ['2026-11-23', { conversations: 1, returned: 0, called: 100, listed: 1_000 }],
    ],
  ])
})

it('the cost counter does not count a conversation again when it continues after its costs were kept', async () => {
  const { counted, kept, run } = counter()
  counted.receive(toldOf(run('a', DAY, '')))
  await counted.close()
  counted.receive(toldOf(run('a', DAY, 'one')))
  await counted.close()
  expect(kept[1]).toEqual([['2026-11-22', { conversations: 0, returned: 1, called: 100, listed: 0 }]])
})

it('the cost counter counts no scheduled workflow, and no cell that no client runs', async () => {
  const { counted, kept, run } = counter()
  counted.receive(toldOf([...run('a', DAY, 'text', 'weekly-report'), ...run('page', DAY, 'text').slice(1, 2)]))
  await counted.close()
  expect(kept).toEqual([])
})

it('the cost counter reports that costs could not be kept, and continues', async () => {
  const { counted, errors, run } = counter(() => Promise.reject(new Error('full')))
  counted.receive(toldOf(run('a', DAY, '')))
  await counted.close()
  counted.receive(toldOf(run('b', DAY, '')))
  await counted.close()
  expect(errors).toHaveLength(2)
})
