// Another bridge of the same user, over its socket: its past is in the record, its present comes from its events.
import { BridgeError } from '../../../errors.ts'
import type { BridgeEvent } from '../../../observe/events/event.ts'
import { LiveClient, type LiveHello } from '../../../observe/live/live-client.ts'
import type { LiveBridge } from '../../../observe/live/live-folder.ts'
import { withTimeout } from '../../../util/async/wait.ts'
import { History } from '../state/history.ts'
import { pageEvent, type PageEvent } from '../state/page-event.ts'
import { bridgeTitle, type PageListener, type Source } from './source.ts'

/** Less than for the page's own bridge, because there may be many. */
const LIMITS = { cells: 2_000, chars: 16 * 1024 * 1024 }
/** For a cell that the page runs, which may take as long as any cell. */
const ANSWER_MS = 60 * 60_000

export class RemoteSource implements Source {
  readonly id: string
  readonly title: string
  readonly history = new History(LIMITS)
  readonly #client: LiveClient
  readonly #listeners = new Set<PageListener>()

  private constructor(client: LiveClient) {
    this.id = client.bridge.id
    this.title = bridgeTitle(client.bridge)
    this.#client = client
    for (const event of eventsOf(client.hello)) this.history.add(event)
  }

  /** @param onGone called once, when the bridge is gone or has dropped events @throws as LiveClient.attach does */
  static async attach(bridge: LiveBridge, onGone: () => void): Promise<RemoteSource> {
    let source: RemoteSource | undefined
    const early: BridgeEvent[] = []
    const client = await LiveClient.attach(bridge, {
      onEvent: (event) => (source ? source.#take(event) : early.push(event)),
      // Dropped events cannot be reconstructed, so reconnect.
      onDropped: () => client.close(),
      onClose: onGone,
    })
    source = new RemoteSource(client)
    for (const event of early) source.#take(event)
    return source
  }

  subscribe(listener: PageListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  ask(path: string, params: unknown): Promise<unknown> {
    return withTimeout(this.#client.ask('page', { path, params }), ANSWER_MS, () => {
      throw new BridgeError('SHUTTING_DOWN', `${this.title} does not answer`)
    })
  }

  close(): void {
    this.#client.close()
  }

  #take(event: BridgeEvent): void {
    const shown = shownEvent(event)
    if (!shown) return
    this.history.add(shown)
    for (const listener of this.#listeners) listener([shown])
  }
}

const NO_OUTPUT = { stdout: '', stderr: '' }

/** The current sessions, cells, calls and questions of that bridge, as the events of their starts. */
function* eventsOf({ sessions, cells, calls, questions }: LiveHello): Generator<PageEvent> {
  const early = { seq: 0, mono: 0 }
  for (const { id, startedAt, client, cells: cellCount } of sessions)
    yield { type: 'session.started', id, at: startedAt, client, cellCount, ...early }
  // A bridge of an older version does not send its cells' output.
  for (const { startedAt: at, session = '', client = '', output = NO_OUTPUT, ...cell } of cells) {
    yield { type: 'cell.started', at, session, client, isCounted: true, seq: 0, ...cell }
    for (const stream of ['stdout', 'stderr'] as const) {
      const text = output[stream]
      if (text !== '') yield { type: 'cell.output', id: cell.id, at, stream, text, dropped: 0, ...early }
    }
  }
  for (const { startedAt: at, parent = '', ...call } of calls)
    yield { type: 'call.started', at, parent, kind: 'tool', args: '', seq: 0, ...call }
  for (const { id, startedAt: at, server, message } of questions)
    yield { type: 'question.asked', id, at, parent: undefined, server, message, ...early }
}

/** An event that was too large for the socket carries only the beginning of its JSON. */
type CutEvent = BridgeEvent & { argsJson?: string; resultJson?: string }

function shownEvent(event: CutEvent): PageEvent | undefined {
  switch (event.type) {
    case 'call.started': {
      const shown = pageEvent({ ...event, args: event.args ?? {} }) as PageEvent & { type: 'call.started' }
      return event.argsJson === undefined ? shown : { ...shown, args: cutJson(event.argsJson) }
    }
    case 'call.ended': {
      const shown = pageEvent(event) as PageEvent & { type: 'call.ended' }
      return event.resultJson === undefined ? shown : { ...shown, result: cutJson(event.resultJson) }
    }
    case 'cell.display':
      return pageEvent({ ...event, data: event.data ?? TOO_LARGE })
    case 'run.ended':
      return pageEvent({ ...event, content: event.content ?? [] })
    default:
      return pageEvent(event)
  }
}

const TOO_LARGE = { 'text/plain': '(too large to be shown here)' }
const CUT_CHARS = 4_000

function cutJson(json: string): string {
  return `${json.slice(0, CUT_CHARS)}… (and more)`
}
