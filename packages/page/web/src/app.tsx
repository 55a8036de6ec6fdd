// The frame around the views: navigation and connection state.
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { count } from '@sandbridge/core/util/text'
import { type Connection, useStore } from './store.ts'
import { Problem } from './parts/problem.tsx'
import type { AskView } from '../../src/views/ask.ts'
import { useAnswer } from './use-answer.ts'
import { Ask } from './views/ask.tsx'
import { Cells } from './views/cells.tsx'
import { Cost } from './views/cost.tsx'
import { Find } from './views/find.tsx'
import { Kept } from './views/kept.tsx'
import { Now } from './views/now.tsx'
import { Record } from './views/record.tsx'
import { Servers } from './views/servers.tsx'
import { Settings } from './views/settings.tsx'

interface Shown {
  /** What the URL selects within the view, such as a server; the start time of a run. */
  id: string | undefined
  at: string | undefined
  waiting: AskView | undefined
}

const VIEWS: { path: string; title: string; show: (shown: Shown) => JSX.Element }[] = [
  { path: 'now', title: 'Now', show: () => <Now /> },
  { path: 'ask', title: 'Ask', show: ({ waiting }) => <Ask waiting={waiting} /> },
  { path: 'servers', title: 'Servers', show: ({ id }) => <Servers name={id} /> },
  { path: 'find', title: 'Find', show: () => <Find /> },
  { path: 'cells', title: 'Cells', show: ({ waiting }) => <Cells waiting={waiting} /> },
  { path: 'record', title: 'Record', show: ({ id, at }) => <Record id={id} at={Number(at ?? 0)} /> },
  { path: 'kept', title: 'Kept', show: ({ id }) => <Kept id={id} /> },
  { path: 'cost', title: 'Cost', show: () => <Cost /> },
  { path: 'settings', title: 'Settings', show: () => <Settings /> },
]

export function App(): JSX.Element {
  const hash = useHash()
  const { connection } = useStore()
  // Also for the title of a hidden page. Some come from other bridges, which send this page no events about them.
  const again = { after: connection, ...(connection === 'live' && { everyMs: 1_000 }), isHiddenToo: true }
  const waiting = useAnswer<AskView>('questions', {}, again).value
  const asked = waiting?.questions.length ?? 0
  const [, path = '', id, at] = hash.split('/')
  const view = VIEWS.find((one) => one.path === path) ?? VIEWS[0]!
  useEffect(() => {
    document.title = `${asked > 0 ? `(${asked}) ` : ''}${view.title} · Sandbridge`
  }, [view, asked])
  return (
    <div class="frame">
      <a class="skip" href="#content" onClick={skip}>
        Skip to the content
      </a>
      <header class="top">
        <span class="brand">
          <img src="icon.svg" alt="" width="22" height="22" />
          Sandbridge
        </span>
        <nav aria-label="Views">
          {VIEWS.map((one) => (
            <a key={one.path} href={`#/${one.path}`} aria-current={one === view ? 'page' : undefined}>
              {one.title}
              {one.path === 'ask' && asked > 0 && (
                <>
                  {' '}
                  <span class="count">{asked}</span>
                </>
              )}
            </a>
          ))}
        </nav>
        <span class="unseen" role="status">
          {asked > 0 && `${count(asked, 'question')} to answer`}
        </span>
        <ConnectionState connection={connection} />
      </header>
      <main id="content" tabIndex={-1}>
        <Problem text={PROBLEMS[connection]} />
        {view.show({ id: decoded(id), at: decoded(at), waiting })}
      </main>
    </div>
  )
}

const WORDS: { [state in Connection]: string } = {
  connecting: 'connecting',
  live: 'live',
  lost: 'not connected',
  locked: 'no access',
}

const PROBLEMS: { [state in Connection]?: string } = {
  lost: 'The bridge has ended or does not answer. The page tries again every second; it shows the last known state.',
  locked: 'The access of this page has ended. Open the link that `sandbridge ui` prints.',
}

function ConnectionState({ connection }: { connection: Connection }): JSX.Element {
  return (
    <span class={`status connection ${connection === 'live' ? 'good' : 'bad'}`} role="status">
      <span class="dot" aria-hidden="true" />
      {WORDS[connection]}
    </span>
  )
}

function decoded(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part)
  } catch {
    // The user has changed the address, or it was cut.
    return undefined
  }
}

function skip(event: Event): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('#content')!.focus()
}

function useHash(): string {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const follow = (): void => setHash(location.hash)
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return hash
}
