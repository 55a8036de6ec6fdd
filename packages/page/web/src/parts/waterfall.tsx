// Shows the calls of a cell over time: when each began, how long it took, how it ended.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { count, visible, visibleInline } from '@sandbridge/core/util/text'
import type { Call, Run } from '@sandbridge/core/observe/runs'
import { duration } from '../words.ts'
import { type Fact, Facts } from './view.tsx'

const SHOWN = 30

type WaterfallCell = Pick<Run, 'calls' | 'callCount' | 'at'> & { durationMs?: number | undefined }

export function Waterfall({ cell, now }: { cell: WaterfallCell; now: number }): JSX.Element | null {
  const [isWhole, setWhole] = useState(false)
  const [open, setOpen] = useState<string>()
  if (cell.calls.length === 0) return null
  const total = Math.max(1, cell.durationMs ?? now - cell.at)
  const calls = isWhole ? cell.calls : cell.calls.slice(-SHOWN)
  return (
    <div class="calls" role="group" aria-label="Calls">
      {calls.length < cell.callCount && (
        <p class="note">
          The last {calls.length} of {count(cell.callCount, 'call')}.{' '}
          {!isWhole && cell.calls.length > SHOWN && (
            <button type="button" class="quiet" onClick={() => setWhole(true)}>
              Show {cell.calls.length}
            </button>
          )}
        </p>
      )}
      <ol>
        {calls.map((call) => (
          <Call
            key={call.id}
            call={call}
            total={total}
            isOpen={open === call.id}
            onToggle={() => setOpen(open === call.id ? undefined : call.id)}
          />
        ))}
      </ol>
      <Flows calls={cell.calls} />
    </div>
  )
}

/** Which servers' values went to which, and in which arguments. */
function Flows({ calls }: { calls: readonly Call[] }): JSX.Element | null {
  const ways = new Map<string, Set<string>>()
  for (const { server, flow } of calls)
    for (const [argument, origins] of Object.entries(flow?.from ?? {}))
      for (const origin of origins) {
        const way = `${origin.split('.')[0]} → ${server}`
        ways.set(way, (ways.get(way) ?? new Set()).add(argument))
      }
  if (ways.size === 0) return null
  const facts = [...ways].map(([way, args]): Fact => [
    visibleInline(way),
    [...args].map(visibleInline).join(', '),
    'warn',
  ])
  return <Facts look="call-details" label="Flows between servers" of={facts} />
}

/** Where the arguments of a call came from, and what its model had read. */
function originsOf({ from, seen }: NonNullable<Call['flow']>): Fact[] {
  const origins = Object.entries(from).map(([argument, names]): Fact => {
    return [visibleInline(argument), `from the result of ${names.map(visibleInline).join(', ')}`, 'warn']
  })
  const read = `The model had read text of ${seen.map(visibleInline).join(', ')}.`
  return [...origins, ['Read before', seen.length > 0 && read]]
}

interface CallProps {
  call: Call
  /** Duration of the cell in milliseconds. */
  total: number
  isOpen: boolean
  onToggle: () => void
}

function Call({ call, total, isOpen, onToggle }: CallProps): JSX.Element {
  const left = Math.min(99, (100 * call.startMs) / total)
  const width = call.durationMs === undefined ? 100 - left : Math.max(0.8, (100 * call.durationMs) / total)
  const state = call.outcome ?? 'open'
  const isFine = state === 'ok' || state === 'open'
  const shown = call.error ? (call.error.message ?? call.error.code) : call.result
  const ended = call.isReused ? 'answer used again' : duration(call.durationMs ?? 0)
  const time = call.durationMs === undefined ? (call.message ?? 'running') : ended
  return (
    <li>
      <button type="button" class="call" aria-expanded={isOpen} onClick={onToggle}>
        <span class="call-name">
          <span class="muted">{visibleInline(call.server)}.</span>
          {visibleInline(call.name)}
        </span>
        <span class="track" aria-hidden="true">
          <span class={`bar ${state}`} style={{ left: `${left}%`, width: `${Math.min(width, 100 - left)}%` }} />
        </span>
        <span class={`call-time ${isFine ? '' : 'bad'}`}>
          {isFine ? time : state === 'denied' ? state : `${state === 'tool_error' ? 'error' : state}, ${time}`}
        </span>
      </button>
      {isOpen && (
        <Facts
          look="call-details"
          of={[
            ['Arguments', typeof call.args === 'string' && call.args && <pre tabIndex={0}>{visible(call.args)}</pre>],
            ...(call.flow ? originsOf(call.flow) : []),
            [call.error ? 'Error' : 'Result', shown !== undefined && <pre tabIndex={0}>{visible(shown)}</pre>],
          ]}
        />
      )}
    </li>
  )
}
