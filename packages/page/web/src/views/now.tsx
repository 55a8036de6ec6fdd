// Now: all open sessions with their cells as they run.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { count, sandboxName, visibleInline } from '@sandbridge/core/util/text'
import type { Run, SessionState } from '@sandbridge/core/observe/runs'
import type { RecordView } from '../../../src/views/record.ts'
import type { UsageView } from '../../../src/routes.ts'
import { CellCard } from '../parts/cell-card.tsx'
import { Status } from '../parts/status.tsx'
import { useStore } from '../store.ts'
import { POLLED, useAnswer } from '../use-answer.ts'
import { Empty, View } from '../parts/view.tsx'
import { bytes, clock, duration } from '../words.ts'

/** Finished cells shown per session, beside those that are open. */
const OLDER_SHOWN = 8

export function Now(): JSX.Element {
  const store = useStore()
  const cells = store.cells()
  const shown = [...store.state.sessions.values()]
    .map((session) => ({ session, cells: cells.filter((cell) => cell.session === session.id) }))
    .filter((one) => one.cells.length > 0)
    .toSorted((a, b) => b.cells[0]!.at - a.cells[0]!.at)
  // The bridge measures only on request.
  const isOpen = shown.some(({ session }) => !session.ended)
  const usage = useAnswer<UsageView[]>(isOpen ? 'usage' : undefined, {}, POLLED).value
  const earlier = useAnswer<RecordView>(shown.length === 0 ? 'record' : undefined).value?.runs.length ?? 0
  const running = cells.filter(({ status }) => status === 'running').length
  return (
    <View title="Now" about={`${count(running, 'cell')} running · ${count(shown.length, 'session')}`}>
      {shown.length === 0 && (
        <Empty title={earlier > 0 ? 'Nothing is running' : 'Nothing has run yet'}>
          <p>Cells appear here as they run, with their output and the calls they make.</p>
          {earlier > 0 && (
            <p>
              What has run before is under <a href="#/record">Record</a>.
            </p>
          )}
          <p>
            Type one yourself under <a href="#/cells">Cells</a>, or try a tool under <a href="#/find">Find</a>.
          </p>
        </Empty>
      )}
      {shown.map(({ session, cells: own }) => {
        const used = usage?.find((one) => one.session === session.id)
        return <Session key={session.id} session={session} cells={own} usage={used} />
      })}
    </View>
  )
}

interface SessionProps {
  session: SessionState
  cells: Run[]
  usage: UsageView | undefined
}

function Session({ session, cells, usage }: SessionProps): JSX.Element {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const [newest, ...older] = cells
  const toggle = (id: string): void => {
    const next = new Set(open)
    if (!next.delete(id)) next.add(id)
    setOpen(next)
  }
  return (
    <section class="session" aria-label={`Session of ${session.client || 'a client'}`}>
      <h2>
        {visibleInline(session.client || 'Session')}
        <span class="muted">
          {count(session.cellCount || cells.length, 'cell')} · since {clock(session.at)}
          {session.ended && ' · ended'} · sandbox: {sandboxName(newest!.provider)}
          {usage && (
            <span class="usage">
              , {bytes(usage.memoryBytes)}, {duration(usage.cpuMs)} of processor time
            </span>
          )}
        </span>
      </h2>
      <CellCard cell={newest!} />
      {older.slice(0, OLDER_SHOWN).map((cell) => (
        <div key={cell.id}>
          <button type="button" class="folded" aria-expanded={open.has(cell.id)} onClick={() => toggle(cell.id)}>
            <Status status={cell.status} />
            <code>{visibleInline(cell.code.trim().split('\n', 1)[0]!)}</code>
            <span class="muted">
              {cell.callCount > 0 && `${count(cell.callCount, 'call')} · `}
              {cell.durationMs === undefined ? '' : duration(cell.durationMs)}
            </span>
          </button>
          {open.has(cell.id) && <CellCard cell={cell} />}
        </div>
      ))}
      {older.length > OLDER_SHOWN && (
        <p class="note">
          {older.length - OLDER_SHOWN} older cells are under <a href="#/record">Record</a>.
        </p>
      )}
    </section>
  )
}
