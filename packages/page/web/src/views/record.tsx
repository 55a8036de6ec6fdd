// Record: all runs of all bridges of the user, with filters. An opened run shows all its details.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { count, visibleInline } from '@sandbridge/core/util/text'
import type { RunRow } from '@sandbridge/record/run-row.ts'
import { OpenedRun } from '../parts/opened-run.tsx'
import { RecordFilters } from '../parts/record-filters.tsx'
import { Status } from '../parts/status.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { type Filter, NO_FILTER, type Runs, useRecord } from '../use-record.ts'
import { duration, moment } from '../words.ts'
import { View } from '../parts/view.tsx'

const ROW_HEIGHT = 36

/** @param id of the open run @param at its start time, for a run that the bridge does not have in memory */
export function Record({ id, at }: { id: string | undefined; at: number }): JSX.Element {
  const [filter, setFilter] = useState<Filter>(NO_FILTER)
  const runs = useRecord(filter)
  const { rows, isOff, error, more } = runs
  const chosen = rows.find((row) => row.id === id)
  return (
    <View title="Record" about={<span role="status">{countText(runs)}</span>} error={error}>
      <RecordFilters filter={filter} rows={rows} onChange={setFilter} />
      {isOff && (
        <p class="notice">
          Nothing is written down, because <code>MCP_BRIDGE_AUDIT</code> is off: these are the runs that the bridge
          remembers.
        </p>
      )}
      <div class={`split wide ${id === undefined ? '' : 'chosen'}`}>
        <VirtualList items={rows} rowHeight={ROW_HEIGHT} label="Runs" keyOf={(row) => row.id} onEnd={more}>
          {(row) => (
            <a class="run" href={`#/record/${row.id}/${row.at}`} aria-current={row.id === id ? 'true' : undefined}>
              <span class="muted time">{moment(row.at)}</span>
              <Status status={row.status} />
              <Title row={row} />
              <span class="muted">{row.durationMs === undefined ? '' : duration(row.durationMs)}</span>
            </a>
          )}
        </VirtualList>
        {id === undefined ? (
          <p class="hint">Choose a run to see all of it.</p>
        ) : (
          <OpenedRun
            key={id}
            id={id}
            at={chosen?.at ?? at}
            isRemembered={chosen?.isRemembered}
            onSession={(session) => setFilter({ ...filter, session })}
          />
        )}
      </div>
    </View>
  )
}

function countText({ rows, isLoading, hasMore }: Runs): string {
  if (isLoading && rows.length === 0) return 'Loading…'
  return `${count(rows.length, 'run')}${hasMore ? ', and older ones' : ''}`
}

/** The first line of its code if a bridge or the record has it, otherwise what it did; and the error that ended it. */
function Title({ row }: { row: RunRow }): JSX.Element {
  const { title, error } = row
  return (
    <span class="about">
      {title === undefined ? (
        <span class="line">{visibleInline(deedOf(row))}</span>
      ) : (
        <code>{visibleInline(title)}</code>
      )}
      {error !== undefined && <span class="failed line">{visibleInline(error)}</span>}
    </span>
  )
}

function deedOf({ kind, callCount, deniedCount, servers, client, number }: RunRow): string {
  if (kind === 'sign-in') return `sign-in to ${servers.join(', ')}`
  if (kind === 'config') return 'the server entries changed'
  const called = callCount === 0 ? 'no call' : `${count(callCount, 'call')} of ${servers.join(', ')}`
  const denied = deniedCount > 0 ? `, ${deniedCount} denied` : ''
  return `${client || (number > 0 ? `cell ${number}` : 'cell')}: ${called}${denied}`
}
