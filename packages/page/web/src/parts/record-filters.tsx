// The filters of the record.
import type { JSX } from 'preact'
import { visibleInline } from '@sandbridge/core/util/text'
import type { ServerListView } from '../../../src/views/server-views.ts'
import type { RunRow } from '@sandbridge/record/run-row.ts'
import { useAnswer } from '../use-answer.ts'
import type { Filter } from '../use-record.ts'

const STATES = ['running', 'ok', 'error', 'timeout', 'interrupted', 'killed', 'unfinished']
const HOUR_MS = 60 * 60_000
const PERIODS: [words: string, ms: number][] = [
  ['all days', 0],
  ['the last hour', HOUR_MS],
  ['the last 24 hours', 24 * HOUR_MS],
  ['the last 7 days', 7 * 24 * HOUR_MS],
  ['the last 30 days', 30 * 24 * HOUR_MS],
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
        value={server}
        options={[['every server', ''], ...servers.map((name): [string, string] => [visibleInline(name), name])]}
        onChange={(chosen) => onChange({ ...filter, server: chosen })}
      />
      <Choice
        label="State"
        value={status}
        options={[['every state', ''], ...STATES.map((name): [string, string] => [name, name])]}
        onChange={(chosen) => onChange({ ...filter, status: chosen })}
      />
      <Choice
        label="Time"
        value={String(backMs)}
        options={PERIODS.map(([words, ms]): [string, string] => [words, String(ms)])}
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

interface ChoiceProps {
  label: string
  value: string
  options: [words: string, value: string][]
  onChange: (value: string) => void
}

function Choice({ label, value, options, onChange }: ChoiceProps): JSX.Element {
  return (
    <label>
      <span class="unseen">{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([words, one]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}
