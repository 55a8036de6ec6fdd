// Shows the calls of a cell over time: when each began, how long it took, how it ended.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { visible, visibleInline } from '../../../src/util/text/visible.ts'
import type { CallView, CellView } from '../../../src/serve/page/state/page-state.ts'
import { duration, plural } from '../words.ts'

const SHOWN = 30

type WaterfallCell = Pick<CellView, 'calls' | 'callCount' | 'at'> & { durationMs?: number | undefined }

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
          The last {calls.length} of {plural(cell.callCount, 'call')}.{' '}
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
    </div>
  )
}

interface CallProps {
  call: CallView
  /** Duration of the cell in milliseconds. */
  total: number
  isOpen: boolean
  onToggle: () => void
}

function Call({ call, total, isOpen, onToggle }: CallProps): JSX.Element {
  const left = Math.min(99, (100 * call.startMs) / total)
  const width = call.durationMs === undefined ? 100 - left : Math.max(0.8, (100 * call.durationMs) / total)
  const state = call.outcome ?? 'open'
  const time = call.durationMs === undefined ? (call.message ?? 'running') : duration(call.durationMs)
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
        <span class={`call-time ${state === 'ok' || state === 'open' ? '' : 'bad'}`}>
          {state === 'ok' || state === 'open'
            ? time
            : state === 'denied'
              ? OUTCOMES[state]
              : `${OUTCOMES[state] ?? state}, ${time}`}
        </span>
      </button>
      {isOpen && (
        <dl class="call-details">
          {call.args !== '' && (
            <>
              <dt>Arguments</dt>
              <dd>
                <pre tabIndex={0}>{visible(call.args)}</pre>
              </dd>
            </>
          )}
          {(call.error ?? call.result) !== undefined && (
            <>
              <dt>{call.error === undefined ? 'Result' : 'Error'}</dt>
              <dd>
                <pre tabIndex={0}>{visible(call.error ?? call.result ?? '')}</pre>
              </dd>
            </>
          )}
        </dl>
      )}
    </li>
  )
}

const OUTCOMES: Record<string, string> = {
  tool_error: 'error',
  failed: 'failed',
  cancelled: 'cancelled',
  denied: 'denied',
}
