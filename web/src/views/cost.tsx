// Cost: the tokens that clients were given by day, and what the tools of all servers would have cost in their context.
import type { JSX } from 'preact'
import type { ServerListView } from '../../../src/ui/server-views.ts'
import { visibleInline } from '../../../src/text/visible.ts'
import { useStore } from '../store.ts'
import { useAnswer } from '../use-answer.ts'
import { short } from '../words.ts'

export function Cost(): JSX.Element {
  const { bridges, serverChanges } = useStore()
  const { value } = useAnswer<ServerListView>('servers', {}, serverChanges)
  const servers = (value?.servers ?? []).filter(({ tokens }) => tokens > 0).toSorted((a, b) => b.tokens - a.tokens)
  const listed = servers.reduce((sum, one) => sum + one.tokens, 0)
  const most = Math.max(...servers.map(({ tokens }) => tokens), 1)
  const days = new Map<string, number>()
  for (const { tokens } of bridges.values())
    for (const [day, count] of tokens) days.set(day, (days.get(day) ?? 0) + count)
  return (
    <>
      <header class="view-head">
        <h1>Cost</h1>
        <p class="muted">Estimates, in tokens</p>
      </header>
      <div class="figures">
        <Figure
          value={[...days.values()].reduce((sum, one) => sum + one, 0)}
          text="returned to clients since the bridge started"
        />
        <Figure value={listed} text="in every conversation, if clients loaded all tools directly" />
      </div>
      <h2>By server</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">Server</th>
            <th scope="col">Tools</th>
            <th scope="col">Tokens if listed directly</th>
          </tr>
        </thead>
        <tbody>
          {servers.map(({ name, toolCount, tokens }) => (
            <tr key={name}>
              <th scope="row">{visibleInline(name)}</th>
              <td>{toolCount}</td>
              <td>
                <span class="track" aria-hidden="true">
                  <span class="bar words" style={{ left: '0', width: `${(100 * tokens) / most}%` }} />
                </span>
                {tokens.toLocaleString('en')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {days.size > 0 && <h2>By day</h2>}
      {days.size > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Day (UTC)</th>
              <th scope="col">Returned to clients</th>
            </tr>
          </thead>
          <tbody>
            {[...days].map(([day, count]) => (
              <tr key={day}>
                <th scope="row">{day}</th>
                <td>{count.toLocaleString('en')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
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
