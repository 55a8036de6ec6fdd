// The filters of the record.
import type { JSX } from 'preact'
import { visibleInline } from '@sandbridge/core/util/text'
import type { ServerListView } from '../../../src/views/server-views.ts'
import type { RunRow } from '@sandbridge/record/run-row.ts'
import { useAnswer } from '../use-answer.ts'
import type { Filter } from '../use-record.ts'
import { Choice } from './view.tsx'

const STATES = ['running', 'ok', 'error', 'timeout', 'interrupted', 'killed', 'unfinished']
const HOUR_MS = 60 * 60_000
const PERIODS: [ms: string, words: string][] = [
  ['0', 'all days'],
  [String(HOUR_MS), 'the last hour'],
  [String(24 * HOUR_MS), 'the last 24 hours'],
  [String(7 * 24 * HOUR_MS), 'the last 7 days'],
  [String(30 * 24 * HOUR_MS), 'the last 30 days'],
]

interface RecordFiltersProps {
  filter: Filter
  rows: readonly RunRow[]
  onChange: (filter: Filter) => void
}

export function RecordFilters({ filter, rows, onChange }: RecordFiltersProps): JSX.Element {
  const { value } = useAnswer<ServerListView>('servers')
  const configured = value?.servers.map(({ name }) => name) ?? []
  const servers = [...new Set([...configured, ...rows.flatMap((row) => row.servers)])].toSorted()
  const { text, server, session, status, denied, backMs } = filter
  return (
    <div class="filters">
      <label class="wide">
        <span class="unseen">Filter by words of tools, errors, arguments and code</span>
        <input
          type="search"
          placeholder="Filter"
          value={text}
          onInput={(event) => onChange({ ...filter, text: event.currentTarget.value })}
        />
      </label>
      <Choice
        label="Server"
        isUnseen
        value={server}
        options={[['', 'every server'], ...servers.map((name): [string, string] => [name, visibleInline(name)])]}
        onChange={(chosen) => onChange({ ...filter, server: chosen })}
      />
      <Choice
        label="State"
        isUnseen
        value={status}
        options={[['', 'every state'], ...STATES.map((name): [string, string] => [name, name])]}
        onChange={(chosen) => onChange({ ...filter, status: chosen })}
      />
      <Choice
        label="Time"
        isUnseen
        value={String(backMs)}
        options={PERIODS}
        onChange={(chosen) => onChange({ ...filter, backMs: Number(chosen) })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={denied}
          onChange={(event) => onChange({ ...filter, denied: event.currentTarget.checked })}
        />
        denied only
      </label>
      {session !== '' && (
        <button type="button" class="tag" onClick={() => onChange({ ...filter, session: '' })}>
          session {visibleInline(session)} <span aria-hidden="true">×</span>
          <span class="unseen">: show all sessions</span>
        </button>
      )}
    </div>
  )
}
