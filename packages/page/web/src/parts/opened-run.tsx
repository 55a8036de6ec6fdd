// Shows one run of the record: everything if the bridge has it in memory, otherwise what is recorded.
import type { JSX } from 'preact'
import { visible, visibleInline } from '@sandbridge/core/util/text'
import type { Run } from '@sandbridge/core/observe/runs'
import type { RecordedCell } from '../../../src/views/record.ts'
import { useStore } from '../store.ts'
import { useAnswer } from '../use-answer.ts'
import { duration, moment } from '../words.ts'
import { CellCard } from './cell-card.tsx'
import { Code } from './code.tsx'
import { Facts } from './view.tsx'
import { Waterfall } from './waterfall.tsx'

interface OpenedRunProps {
  id: string
  at: number
  /** The bridge has it in memory. */
  isRemembered: true | undefined
  onSession: (session: string) => void
}

export function OpenedRun({ id, at, isRemembered, onSession }: OpenedRunProps): JSX.Element {
  const live = useStore().state.runs.get(id)
  const remembered = useAnswer<Run>(live || !isRemembered ? undefined : 'cell', { id })
  const isForgotten = !live && (!isRemembered || remembered.error !== undefined)
  const recorded = useAnswer<RecordedCell>(isForgotten ? 'record/run' : undefined, { id, at: String(at) })
  const cell = live ?? remembered.value
  const session = cell?.session ?? recorded.value?.facts.find(([name]) => name === 'Session')?.[1]
  return (
    <section class="details" aria-label="Run">
      <a class="back" href="#/record">
        All runs
      </a>
      {cell && <CellCard cell={cell} isOpened />}
      {!cell && recorded.value && <Recorded run={recorded.value} />}
      {!cell && !recorded.value && <p class="hint">{recorded.error ?? 'Loading…'}</p>}
      {session !== undefined && (
        <button type="button" class="quiet" onClick={() => onSession(session)}>
          Only this session
        </button>
      )}
    </section>
  )
}

function Recorded({ run }: { run: RecordedCell }): JSX.Element {
  const { at, durationMs, calls, facts, hasCode, code } = run
  if (facts.length === 0) return <p class="hint">The record has nothing about this run any more.</p>
  return (
    <article class="cell" aria-label="Recorded run">
      <header>
        <span class="muted">
          {moment(at)}
          {durationMs !== undefined && ` · ${duration(durationMs)}`}
        </span>
      </header>
      {code !== undefined && <Code code={code} />}
      <Waterfall cell={{ ...run, calls }} now={at} />
      <Facts of={facts.map(([name, value]) => [name, visible(visibleInline(value))])} />
      {hasCode && code === undefined && <p class="note">The audit log keeps a hash of the code, not the code.</p>}
    </article>
  )
}
