// Measures runs, calls and other events: the histograms of the MCP conventions, and our own. For both exporters.
import type { EventOf, Subscriber } from '@sandbridge/core/observe/events'
import { calledTokens, returnedTokens } from '@sandbridge/shared/run-cost.ts'
import type { Run, Told } from '@sandbridge/core/observe/runs'
import { type Attributes, callAttributes, errorType, runAttributes } from './spans.ts'

/** Bucket bounds of the conventions, in seconds. */
const BOUNDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
/** Limit per metric: a server with many tools must not use unlimited memory. */
const MAX_SERIES = 500
const OVERFLOW: Attributes = { 'otel.metric.overflow': true }

const HISTOGRAMS = {
  'mcp.server.operation.duration': 'Requests of clients, from their arrival to their answer',
  'mcp.client.operation.duration': 'Requests to servers',
  'mcp.server.session.duration': 'Sessions of clients',
  'mcp.client.session.duration': 'Time that servers were connected',
  'sandbridge.cell.duration': 'Cells',
  'sandbridge.sandbox.start.duration': 'Starts of sandboxes, until their Python answers',
  'sandbridge.pool.wait.duration': 'Time that sessions wait for a sandbox, by whether one was ready',
  'sandbridge.server.start.duration': 'Starts of servers, until they answer',
} as const

const SUMS = {
  'sandbridge.tokens.returned': ['{token}', 'Estimated tokens in what clients got'],
  'sandbridge.tokens.saved': ['{token}', 'Estimated tokens of results of calls that stayed in the sandbox'],
  'sandbridge.call.denied': ['{call}', 'Calls that a rule has denied'],
  'sandbridge.question.answered': ['{question}', 'Questions to users, by their answer'],
  'sandbridge.telemetry.dropped': ['{item}', 'Spans that found no room, or that the collector refused'],
} as const

/** Metrics of the current state. */
const GAUGES = {
  'sandbridge.open_sessions': ['{session}', 'Sessions of clients that are open'],
} as const

type HistogramName = keyof typeof HISTOGRAMS
type SumName = keyof typeof SUMS

/** Cumulative values since the start, by attributes. */
interface Histogram {
  attributes: Attributes
  counts: number[]
  count: number
  sum: number
}

interface Point {
  attributes: Attributes
  value: number
}

/** One metric with its points; one of the last three is set. */
export interface Metric {
  name: string
  unit: string
  description: string
  histogram?: { bounds: readonly number[]; points: readonly Histogram[] }
  sum?: readonly Point[]
  /** Current values, instead of sums since the start. */
  gauge?: readonly Point[]
}

export class Metrics implements Subscriber {
  readonly name = 'metrics'
  /** Transport of each server, by name. */
  readonly transports = new Map<string, { transport: string; protocolVersion: string | undefined }>()
  readonly startedAt = Date.now()
  readonly #histograms = new Map<HistogramName, Map<string, Histogram>>()
  readonly #sums = new Map<SumName, Map<string, Point>>()
  #openSessionCount = 0
  /** Series of calls by a short key: finding one by all its attributes takes longer than counting in it. */
  readonly #ofCalls = new Map<string, Histogram>()

  receive(told: readonly Told[]): void {
    for (const { event, run } of told) this.#on[event.type]?.(event as never, run)
  }

  /** How each kind of event is counted. */
  readonly #on: { [T in Told['event']['type']]?: (event: EventOf<T>, run: Run | undefined) => void } = {
    'run.ended': (event, run) => this.#runEnded(event, run),
    'cell.ended': ({ durationMs, status }) =>
      this.#observe('sandbridge.cell.duration', durationMs, { 'sandbridge.cell.status': status }),
    'call.ended': (event) => this.#callEnded(event),
    'call.decided': ({ decision, server, name }) => {
      const call = { 'mcp.server.name': server, 'gen_ai.tool.name': name }
      if (decision === 'deny') this.add('sandbridge.call.denied', 1, call)
    },
    'question.answered': ({ answer }) => this.add('sandbridge.question.answered', 1, { 'sandbridge.answer': answer }),
    'sandbox.started': ({ durationMs, provider }) =>
      this.#observe('sandbridge.sandbox.start.duration', durationMs, { 'sandbridge.provider': provider }),
    'sandbox.taken': ({ durationMs, wasPooled }) =>
      this.#observe('sandbridge.pool.wait.duration', durationMs, { 'sandbridge.pool.hit': wasPooled }),
    'server.state': (event) => this.#serverState(event),
    'session.started': () => void (this.#openSessionCount += 1),
    'session.ended': ({ durationMs }) => {
      this.#openSessionCount -= 1
      this.#observe('mcp.server.session.duration', durationMs, {})
    },
  }

  add(name: SumName, value: number, attributes: Attributes = {}): void {
    const point = seriesOf(this.#sums, name, attributes, (of) => ({ attributes: of, value: 0 }))
    point.value += value
  }

  /** All possible metrics, for readers that need their names. */
  get names(): { name: string; unit: string; kind: 'histogram' | 'sum' | 'gauge' }[] {
    return [
      ...Object.keys(HISTOGRAMS).map((name) => ({ name, unit: 's', kind: 'histogram' as const })),
      ...Object.entries(SUMS).map(([name, [unit]]) => ({ name, unit, kind: 'sum' as const })),
      ...Object.entries(GAUGES).map(([name, [unit]]) => ({ name, unit, kind: 'gauge' as const })),
    ]
  }

  read(): Metric[] {
    return [
      ...[...this.#histograms].map(([name, points]) => ({
        name,
        unit: 's',
        description: HISTOGRAMS[name],
        histogram: { bounds: BOUNDS, points: [...points.values()] },
      })),
      ...[...this.#sums].map(([name, points]) => {
        const [unit, description] = SUMS[name]
        return { name, unit, description, sum: [...points.values()] }
      }),
      ...Object.entries(GAUGES).map(([name, [unit, description]]) => ({
        name,
        unit,
        description,
        // Present from the start: an autoscaler must see that a bridge without sessions has none.
        gauge: [{ attributes: {}, value: this.#openSessionCount }],
      })),
    ]
  }

  #runEnded(event: EventOf<'run.ended'>, run: Run | undefined): void {
    const request = run?.request
    if (request) {
      const error = errorType(event.outcome, event.error?.code)
      const attributes = { ...runAttributes(request), 'error.type': error }
      this.#observe('mcp.server.operation.duration', event.durationMs, attributes)
    }
    const tokens = returnedTokens(event.content)
    this.add('sandbridge.tokens.returned', tokens)
    this.add('sandbridge.tokens.saved', Math.max(0, (run ? calledTokens(run) : 0) - tokens))
  }

  #callEnded(event: EventOf<'call.ended'>): void {
    const { kind, server, name, outcome, error, durationMs, isReused } = event
    if (isReused) return
    const key = `${kind}\n${outcome}\n${error?.code ?? ''}\n${server}\n${name}`
    count(this.#ofCalls.get(key) ?? this.#seriesOfCall(key, event), durationMs)
  }

  #seriesOfCall(key: string, event: EventOf<'call.ended'>): Histogram {
    const error = errorType(event.outcome, event.error?.code)
    const attributes = { ...callAttributes(event, this.transports), 'error.type': error }
    const point = seriesOf(this.#histograms, 'mcp.client.operation.duration', attributes, emptyPoint)
    if (this.#ofCalls.size < MAX_SERIES) this.#ofCalls.set(key, point)
    return point
  }

  #serverState({ server, state, transport, protocolVersion, durationMs = 0 }: EventOf<'server.state'>): void {
    const name = { 'mcp.server.name': server }
    if (state === 'running') {
      this.transports.set(server, { transport, protocolVersion })
      // The cached series contain the old transport and protocol version.
      this.#ofCalls.clear()
      this.#observe('sandbridge.server.start.duration', durationMs, name)
    }
    if (state !== 'stopped') return
    const version = this.transports.get(server)?.protocolVersion
    this.#observe('mcp.client.session.duration', durationMs, { ...name, 'mcp.protocol.version': version })
  }

  #observe(name: HistogramName, durationMs: number, attributes: Attributes): void {
    count(seriesOf(this.#histograms, name, attributes, emptyPoint), durationMs)
  }
}

function count(point: Histogram, durationMs: number): void {
  const seconds = durationMs / 1000
  const above = BOUNDS.findIndex((bound) => seconds <= bound)
  point.counts[above === -1 ? BOUNDS.length : above]! += 1
  point.count += 1
  point.sum += seconds
}

function emptyPoint(attributes: Attributes): Histogram {
  return { attributes, counts: Array<number>(BOUNDS.length + 1).fill(0), count: 0, sum: 0 }
}

function seriesOf<N, P>(
  all: Map<N, Map<string, P>>,
  name: N,
  attributes: Attributes,
  make: (attributes: Attributes) => P,
): P {
  const series = all.get(name) ?? new Map<string, P>()
  all.set(name, series)
  const known = series.get(JSON.stringify(attributes))
  if (known) return known
  const counted = series.size < MAX_SERIES ? attributes : OVERFLOW
  const key = JSON.stringify(counted)
  const found = series.get(key) ?? make(counted)
  series.set(key, found)
  return found
}
