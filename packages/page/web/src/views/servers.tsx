// Servers: the list, their state, and their tools.
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { count, visible, visibleInline } from '@sandbridge/core/util/text'
import type { ServerDetailsView, ServerListView, ServerRow } from '../../../src/views/server-views.ts'
import { coloured } from '../parts/code.tsx'
import { Status } from '../parts/status.tsx'
import { useStore } from '../store.ts'
import { useAnswer } from '../use-answer.ts'
import { useSending } from '../use-sending.ts'
import { Empty, type Fact, Facts, View } from '../parts/view.tsx'
import { clock, duration, moment, short } from '../words.ts'
import { Problem, Words } from '../parts/problem.tsx'

export function Servers({ name }: { name: string | undefined }): JSX.Element {
  const { serverChanges } = useStore()
  const { value, error } = useAnswer<ServerListView>('servers', {}, { after: serverChanges })
  const servers = value?.servers ?? []
  const tokens = servers.reduce((sum, one) => sum + one.tokens, 0)
  return (
    <View
      title="Servers"
      about={`${count(servers.length, 'server')} · about ${short(tokens)} tokens if a model had to read all their tools`}
      error={error}
    >
      {value?.notes.map((note) => (
        <p key={note} class="muted">
          {visibleInline(note)}
        </p>
      ))}
      {value && servers.length === 0 && (
        <Empty title="No servers are configured">
          <p>
            Add one to <code>~/MCPs/servers.json</code>, or run <code>sandbridge init</code>.
          </p>
        </Empty>
      )}
      <div class={`split ${name === undefined ? '' : 'chosen'}`}>
        {value && <ServerList of={value} current={name} />}
        {name === undefined ? (
          <p class="hint">Choose a server to see its tools.</p>
        ) : (
          <ServerDetails key={name} name={name} changes={serverChanges} />
        )}
      </div>
    </View>
  )
}

function ServerList({ of, current }: { of: ServerListView; current: string | undefined }): JSX.Element {
  const { servers, untrusted, skipped } = of
  return (
    <ul class="list" aria-label="Servers">
      {servers.map((server) => (
        <li key={server.name}>
          <ServerLink server={server} isCurrent={server.name === current} />
        </li>
      ))}
      {untrusted.map((one) => (
        <li key={`${one.file} ${one.name}`} class="item">
          <strong>{visibleInline(one.name)}</strong>
          <span class="status warn">not trusted</span>
          <span class="muted">
            {visibleInline(one.file)}: allow it with <code>sandbridge trust</code>
          </span>
        </li>
      ))}
      {skipped.map((one) => (
        <li key={`${one.file} ${one.name ?? ''}`} class="item">
          <strong>{visibleInline(one.name ?? one.file)}</strong>
          <span class="status bad">skipped</span>
          <span class="muted">
            <Words text={one.reason} />
          </span>
        </li>
      ))}
    </ul>
  )
}

function ServerLink({ server, isCurrent }: { server: ServerRow; isCurrent: boolean }): JSX.Element {
  const { name, toolCount, problem, description } = server
  return (
    <a class="item" href={`#/servers/${encodeURIComponent(name)}`} aria-current={isCurrent ? 'true' : undefined}>
      <strong>{visibleInline(name)}</strong>
      <Status status={statusOf(server)} />
      <span class="muted">
        {toolCount === undefined
          ? problem === undefined
            ? 'not asked yet'
            : 'tools unknown'
          : count(toolCount, 'tool')}
        {server.tokens > 0 && ` · ${short(server.tokens)} tokens`}
        {server.start && ` · started in ${duration(server.start.tookMs)}`}
      </span>
      <span class="muted line">
        <Words text={visibleInline(problem ?? description)} />
      </span>
    </a>
  )
}

function ServerDetails({ name, changes }: { name: string; changes: number }): JSX.Element {
  const [restarts, setRestarts] = useState(0)
  const [isRestarting, setRestarting] = useState(false)
  const { isSending, problem, setProblem, send } = useSending()
  const [signInUrl, setSignInUrl] = useState<string>()
  const signedIn = useStore().signIns.get(name)
  useEffect(() => {
    // Without a link, the sign-in began elsewhere.
    if (!signedIn || signInUrl === undefined) return
    setSignInUrl(undefined)
    setProblem(signedIn.problem && `The sign-in failed: ${signedIn.problem}`)
  }, [signedIn])
  const { value: server, error } = useAnswer<ServerDetailsView>('server', { name }, { after: `${changes} ${restarts}` })
  const signIn = (): void => {
    setRestarting(false)
    send('server/sign-in', { name }, ({ url }: { url: string }) => setSignInUrl(url))
  }
  const restart = (): void => {
    setRestarting(true)
    send('server/restart', { name }, () => setRestarts(restarts + 1))
  }
  if (!server) return <p class="hint">{error ?? 'Loading…'}</p>
  const failure = server.problem ?? server.lastError?.reason
  return (
    <section class="details" aria-label={`Server ${name}`}>
      <a class="back" href="#/servers">
        All servers
      </a>
      <header>
        <h2>{visibleInline(name)}</h2>
        <Status status={statusOf(server)} />
        <span class="spacer" />
        {server.canSignIn && (
          <button type="button" disabled={isSending} onClick={signIn}>
            Sign in
          </button>
        )}
        <button type="button" disabled={isSending} onClick={restart}>
          {isSending && isRestarting ? 'Restarting…' : server.state === 'not-started' ? 'Start' : 'Restart'}
        </button>
      </header>
      <Problem text={problem} />
      {signInUrl && (
        <p class="notice">
          <a href={signInUrl} target="_blank" rel="noopener noreferrer">
            Sign in at {new URL(signInUrl).host}
          </a>
        </p>
      )}
      <Facts of={factsOf(server)} />
      {failure && (
        <div class="problem">
          <strong>{server.problem ? 'It failed' : `Its last error, at ${moment(server.lastError!.at)}`}</strong>
          <p>
            <Words text={failure} />
          </p>
          {server.hint && (
            <p>
              <Words text={server.hint} />
            </p>
          )}
        </div>
      )}
      {server.log && (
        <details open={server.problem !== undefined}>
          <summary>Its log</summary>
          <pre tabIndex={0}>{visible(server.log)}</pre>
        </details>
      )}
      {server.instructions && (
        <details>
          <summary>Instructions</summary>
          <pre tabIndex={0}>{visible(server.instructions)}</pre>
        </details>
      )}
      {server.tools.length > 0 && <h3>{count(server.tools.length, 'tool')}</h3>}
      <ul class="tools">
        {server.tools.map((tool) => (
          <li key={tool.name}>
            <pre class="code signature" tabIndex={0}>
              <code>{coloured(visible(tool.line.split('  # ', 1)[0]!))}</code>
            </pre>
            <p class="muted">
              {visibleInline(tool.description)} <span class="cost">{tool.tokens} tokens</span>
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}

function factsOf(server: ServerDetailsView): Fact[] {
  const { alias, type, commandLine, authorized, file, start, state, tokens, fetchedAt } = server
  const started = start && (
    <>
      took {duration(start.tookMs)}
      {state === 'running' ? ', runs since ' : ', ran from '}
      <time dateTime={new Date(start.at).toISOString()}>{moment(start.at)}</time>
    </>
  )
  const cost = `about ${tokens.toLocaleString('en')} tokens where a client loads its tools; none through this bridge`
  return [
    ['In Python', <code>mcp_{alias}</code>],
    [type === 'stdio' ? 'Command' : 'Address', <code>{visibleInline(commandLine)}</code>],
    ['Authorized', authorized && visibleInline(authorized)],
    ['Defined in', visibleInline(file)],
    ['Last start', started],
    ['Cost', tokens > 0 && cost],
    ['Tools read', fetchedAt !== undefined && clock(fetchedAt)],
  ]
}

function statusOf({ problem, state }: ServerRow): string {
  if (problem !== undefined) return 'failed'
  return state === 'running' ? 'up' : state
}
