// Record: every run that is kept, with filters; one opened shows all of it.
import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { CellRow } from '../../../src/ui/history.ts'
import type { CellView } from '../../../src/ui/page-state.ts'
import { visibleInline } from '../../../src/text/visible.ts'
import { CellCard } from '../parts/cell-card.tsx'
import { Status } from '../parts/status.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { useStore } from '../store.ts'
import { useAnswer } from '../use-answer.ts'
import { clock, duration, plural } from '../words.ts'

type Row = CellRow & { source: string }

const ROW_HEIGHT = 36
const STATES = ['running', 'ok', 'error', 'timeout', 'interrupted', 'killed']

export function Record({ id }: { id: string | undefined }): JSX.Element {
  const store = useStore()
  const [words, setWords] = useState('')
  const [state, setState] = useState('')
  const { value: old = [], isLoading } = useAnswer<Row[]>('cells', {}, store.connection)
  const rows = withNew(old, store.cells())
  const shown = useMemo(() => filtered(rows, words, state), [rows, words, state])
  const chosen = rows.find((row) => row.id === id)
  return (
    <>
      <header class="view-head">
        <h1>Record</h1>
        <p class="muted" role="status">
          {isLoading && old.length === 0 ? 'Loading…' : `${shown.length} of ${plural(rows.length, 'run')}`}
        </p>
      </header>
      <div class="filters">
        <label>
          <span class="unseen">Filter by words of the code, client or state</span>
          <input
            type="search"
            placeholder="Filter"
            value={words}
            onInput={(event) => setWords(event.currentTarget.value)}
          />
        </label>
        <label>
          <span class="unseen">State</span>
          <select value={state} onChange={(event) => setState(event.currentTarget.value)}>
            <option value="">every state</option>
            {STATES.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
      </div>
      <div class={`split wide ${chosen ? 'chosen' : ''}`}>
        <VirtualList items={shown} rowHeight={ROW_HEIGHT} label="Runs" keyOf={(row) => row.id}>
          {(row) => (
            <a class="run" href={`#/record/${row.id}`} aria-current={row.id === id ? 'true' : undefined}>
              <span class="muted time">{clock(row.at)}</span>
              <Status status={row.status} />
              <code>{visibleInline(row.title)}</code>
              <span class="muted">{row.durationMs === undefined ? '' : duration(row.durationMs)}</span>
            </a>
          )}
        </VirtualList>
        {chosen ? <Opened key={chosen.id} row={chosen} /> : <p class="hint">Choose a run to see all of it.</p>}
      </div>
    </>
  )
}

function Opened({ row }: { row: Row }): JSX.Element {
  const live = useStore().bridges.get(row.source)?.cells.get(row.id)
  const { value, error } = useAnswer<CellView>(live ? undefined : 'cell', { source: row.source, id: row.id })
  const cell = live ?? value
  return (
    <section class="details" aria-label="Run">
      <a class="back" href="#/record">
        All runs
      </a>
      {cell ? <CellCard cell={{ ...cell, source: row.source }} /> : <p class="hint">{error ?? 'Loading…'}</p>}
    </section>
  )
}

/** What has happened since the list was read is known here. */
function withNew(old: readonly Row[], cells: readonly (CellView & { source: string })[]): Row[] {
  const newer = new Map(cells.map((cell) => [cell.id, cell]))
  const known = new Set(old.map(({ id }) => id))
  const added = cells
    .filter(({ id }) => !known.has(id))
    .map((cell) => ({ ...cell, title: cell.code.trim().split('\n', 1)[0]! }))
  const updated = old.map((row) => {
    const cell = newer.get(row.id)
    return cell && cell.status !== row.status ? { ...row, status: cell.status, durationMs: cell.durationMs } : row
  })
  return [...added, ...updated]
}

function filtered(rows: readonly Row[], words: string, state: string): Row[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  return rows.filter((row) => {
    if (state !== '' && row.status !== state) return false
    const text = `${row.title} ${row.client} ${row.status}`.toLowerCase()
    return wanted.every((word) => text.includes(word))
  })
}
