// Cost: by day, the tokens of tools and results in the context of models, with this bridge and without it.
import type { JSX } from 'preact'
import type { CostsView } from '../../../src/views/costs.ts'
import type { ServerListView, ServerRow } from '../../../src/views/server-views.ts'
import { visibleInline } from '@sandbridge/core/util/text'
import { useStore } from '../store.ts'
import { POLLED, useAnswer } from '../use-answer.ts'
import { short } from '../words.ts'
import { Table, View } from '../parts/view.tsx'

/** Days that are summed up. */
const MONTH = 30

export function Cost(): JSX.Element {
  const { serverChanges } = useStore()
  const { value: known } = useAnswer<ServerListView>('servers', {}, { after: serverChanges })
  const { value: costs, error } = useAnswer<CostsView>('costs', {}, POLLED)
  const servers = (known?.servers ?? []).filter(({ tokens }) => tokens > 0).toSorted((a, b) => b.tokens - a.tokens)
  const month = (costs?.days ?? []).slice(0, MONTH)
  const sum = (of: 'with' | 'without'): number => month.reduce((all, day) => all + day[of], 0)
  return (
    <View title="Cost" about="Estimates, in tokens" error={error}>
      <div class="figures">
        <Figure value={sum('with')} text={`with Sandbridge, in the last ${MONTH} days with runs`} />
        <Figure value={sum('without')} text="without it, if clients had loaded all tools and called them directly" />
      </div>
      <h2>By day</h2>
      {costs?.isOff && <p class="hint">Nothing is counted: the audit log is off (MCP_BRIDGE_AUDIT=off).</p>}
      {costs?.days.length === 0 && !costs.isOff && <p class="hint">No client has run anything yet.</p>}
      {month.length > 0 && <Days days={month} />}
      <p class="counted muted">
        A conversation is a session in which its client ran code. It counts once a day. With Sandbridge, its context has
        the definition of run_python and the results of cells. Without it, the context has the definitions of all tools
        that were known of the configured servers then, and the results of all calls. Not counted is that a client sends
        the context again with every turn, and the code that the model wrote.
      </p>
      <h2>By server</h2>
      {servers.length === 0 ? (
        <p class="hint">The tools of no server are known yet.</p>
      ) : (
        <ByServer servers={servers} />
      )}
    </View>
  )
}

function Days({ days }: Pick<CostsView, 'days'>): JSX.Element {
  const most = Math.max(...days.flatMap((day) => [day.with, day.without]), 1)
  return (
    <Table look="days" head={['Day (UTC)', 'Conversations', 'With Sandbridge', 'Without']}>
      {days.map(({ day, conversations, with: own, without }) => (
        <tr key={day}>
          <th scope="row">{day}</th>
          <td>{conversations.toLocaleString('en')}</td>
          <Amount value={own} most={most} />
          <Amount value={without} most={most} />
        </tr>
      ))}
    </Table>
  )
}

function ByServer({ servers }: { servers: readonly ServerRow[] }): JSX.Element {
  const most = Math.max(...servers.map(({ tokens }) => tokens), 1)
  return (
    <Table head={['Server', 'Tools', 'Tokens if listed directly']}>
      {servers.map(({ name, toolCount, tokens }) => (
        <tr key={name}>
          <th scope="row">{visibleInline(name)}</th>
          <td>{toolCount}</td>
          <Amount value={tokens} most={most} />
        </tr>
      ))}
    </Table>
  )
}

function Amount({ value, most }: { value: number; most: number }): JSX.Element {
  return (
    <td>
      <span class="track" aria-hidden="true">
        <span class="bar words" style={{ left: '0', width: `${(100 * value) / most}%` }} />
      </span>
      {value.toLocaleString('en')}
    </td>
  )
}

function Figure({ value, text }: { value: number; text: string }): JSX.Element {
  return (
    <p class="figure">
      <strong>{short(value)}</strong>
      <span class="muted">{text}</span>
    </p>
  )
}
