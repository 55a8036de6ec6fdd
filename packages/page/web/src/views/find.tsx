// Find: the search as a model's code sees it, the reason for each rank, and a form to try a tool.
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ToolDoc } from '@sandbridge/core/calls/catalog'
import type { Reason } from '@sandbridge/core/calls/catalog'
import { visible, visibleInline } from '@sandbridge/core/util/text'
import { coloured } from '../parts/code.tsx'
import { TryTool } from '../parts/try-tool.tsx'
import { useAnswer } from '../use-answer.ts'
import { Problem, Words } from '../parts/problem.tsx'
import { View } from '../parts/view.tsx'

interface Found {
  hits: { doc: ToolDoc; reason?: Reason }[]
  unsearched: { name: string; reason: string }[]
}

const TYPING_MS = 200

export function Find(): JSX.Element {
  const [typed, setTyped] = useState('')
  const [query, setQuery] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setQuery(typed.trim()), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  const { value, error, isLoading } = useAnswer<Found>(query === '' ? undefined : 'search', { query })
  const best = Math.max(...(value?.hits ?? []).map(({ reason }) => reason?.score ?? 0), 0.001)
  return (
    <View title="Find" about={<Words text="What code gets from `search_tool_docs`" />}>
      <label class="search">
        <span class="unseen">Search the tools of all servers</span>
        <input
          type="search"
          placeholder="What should a tool do? For example: create an issue"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      <Problem text={error} />
      <p class="unseen" role="status">
        {isLoading ? 'Searching' : value ? `${value.hits.length} found` : ''}
      </p>
      {value?.hits[0]?.doc.weak && <p class="note">{value.hits[0].doc.weak}</p>}
      <ol class="hits">
        {value?.hits.map(({ doc, reason }) => (
          <Hit key={`${doc.server} ${doc.tool} ${doc.target ?? ''}`} doc={doc} reason={reason} best={best} />
        ))}
      </ol>
      {value?.unsearched.map(({ name, reason }) => (
        <p key={name} class="note">
          Not searched: {visibleInline(name)}: {visibleInline(reason)}
        </p>
      ))}
    </View>
  )
}

function Hit({ doc, reason, best }: { doc: ToolDoc; reason: Reason | undefined; best: number }): JSX.Element {
  const [isTried, setTried] = useState(false)
  return (
    <li class="hit">
      <header>
        <strong>
          <span class="muted">{visibleInline(doc.server)}.</span>
          {visibleInline(doc.toolAlias)}
        </strong>
        {doc.kind && <span class="tag">{doc.kind}</span>}
        <span class="spacer" />
        {!doc.kind && (
          <button type="button" class="quiet" aria-expanded={isTried} onClick={() => setTried(!isTried)}>
            {isTried ? 'Close' : 'Try it'}
          </button>
        )}
      </header>
      <p>{visible(doc.description)}</p>
      <pre class="code signature" tabIndex={0}>
        <code>{coloured(visible(doc.line))}</code>
      </pre>
      {reason && <Why reason={reason} best={best} />}
      {isTried && <TryTool doc={doc} />}
    </li>
  )
}

function Why({ reason, best }: { reason: Reason; best: number }): JSX.Element {
  const { score, words, meaning, isNamed, concepts } = reason
  const percent = (part: number): string => `${Math.min(100, (100 * part) / best)}%`
  const text = [`words ${words.toFixed(2)}`, `meaning ${meaning.toFixed(2)}`, ...(isNamed ? ['exact name'] : [])].join(
    ' + ',
  )
  return (
    <div class="why">
      <span class="track" aria-hidden="true">
        <span class="bar words" style={{ left: '0', width: percent(words) }} />
        <span class="bar meaning" style={{ left: percent(words), width: percent(meaning) }} />
      </span>
      <span class="muted">
        {score.toFixed(2)}: {text}
      </span>
      {concepts.map(({ asked, found }) => (
        <span key={asked} class={`tag ${found === undefined ? 'missing' : ''}`}>
          {found === undefined
            ? `no ${visibleInline(asked)}`
            : found === asked
              ? visibleInline(asked)
              : `${visibleInline(asked)} → ${visibleInline(found)}`}
        </span>
      ))}
    </div>
  )
}
