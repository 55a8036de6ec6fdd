// Attaches all observers of events. The code of each is loaded at the first event that it needs.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Catalog } from '../calls/catalog/catalog.ts'
import { processContext } from '../config/settings/client-context.ts'
import type { Settings } from '../config/settings/settings.ts'
import { BridgeError, messageOf } from '../errors.ts'
import { dailyCosts, record } from '../observe/record-part.ts'
import { asksForTelemetry, telemetry, type TelemetryPart } from '../observe/telemetry-part.ts'
import type { EventStream } from '../observe/events/event-stream.ts'
import { LazySubscriber } from '../observe/events/lazy-subscriber.ts'
import type { Log } from '../util/log.ts'
import { writeFailure } from '../util/files/file-failure.ts'
import type { Stores } from '../util/stores/store.ts'
import type { Upstreams } from '../upstream/upstream-set.ts'
import { VERSION } from '../util/package-root.ts'

interface ObservedParts {
  settings: Settings
  events: EventStream
  log: Log
  stores: Stores
  /** The open servers of all tenants. */
  opened: () => Iterable<{ upstreams: Upstreams; catalog: Pick<Catalog, 'servers' | 'of'> }>
  /** Undefined if no setting asks for it. */
  telemetry: TelemetryPart | undefined
}

/** @returns those that a first cell would otherwise wait for, and why the record cannot be written, if it cannot */
export function attachObservers(parts: ObservedParts) {
  let recordFailure: BridgeError | undefined
  const recorder = audit(parts, (failure) => (recordFailure = failure))
  const { settings, events, log, opened } = parts
  const measured = parts.telemetry?.metricsAndTraces({
    address: settings.metrics,
    token: settings.metricsToken,
    env: processContext().env,
    events,
    redact: (server, text) => redactFor(opened(), server, text),
    warn: (message, fields) => log.warning(message, fields),
  })
  const observers = [...(measured ?? []), recorder, costs(parts)].filter((one) => one !== undefined)
  for (const observer of observers) events.subscribe(observer)
  return { ofCells: observers, recordFailure: () => recordFailure }
}

/** Telemetry that this build lacks is a warning: other programs set the variables of OpenTelemetry for all. */
export async function loadTelemetry({ metrics }: Settings, log: Log): Promise<TelemetryPart | undefined> {
  const asker = asksForTelemetry(metrics, processContext().env)
  if (asker === undefined) return undefined
  return telemetry.for(asker).catch((error: unknown) => {
    log.warning('Metrics and traces are not sent', { error })
    return undefined
  })
}

/** @param tell gets the reason when writing begins to fail, and undefined when it works again */
function audit(
  { settings, log, stores, opened }: ObservedParts,
  tell: (failure: BridgeError | undefined) => void,
): LazySubscriber | undefined {
  // A build without the record writes none, unless a setting asks for it.
  if (settings.audit === 'off' || (!record.isHere && settings.audit === 'shape' && !settings.auditRequired))
    return undefined
  const onFailing = (error?: unknown): void => {
    tell(error === undefined ? undefined : recordError(error))
    if (error !== undefined) log.warning('The audit log cannot be written', { error })
  }
  return new LazySubscriber({
    name: 'audit',
    guards: settings.auditRequired,
    wakes: ['run.started', 'cell.started', 'call.decided', 'question.asked', 'sign-in', 'config.changed'],
    onError: onFailing,
    load: async () => {
      const { Audit, recordIn } = await record.for('MCP_BRIDGE_AUDIT')
      return new Audit({
        logs: recordIn(stores.of(undefined)),
        full: settings.audit === 'full' || settings.audit === 'replay',
        replay: settings.audit === 'replay',
        required: settings.auditRequired,
        version: VERSION,
        redact: (server, text) => redactFor(opened(), server, text),
        onFailing,
      })
    },
  })
}

function recordError(cause: unknown): BridgeError {
  const message = `The audit log cannot be written: ${writeFailure(cause, () => messageOf(cause))}`
  return new BridgeError('STATE_UNWRITABLE', message, {
    cause,
    ...(BridgeError.isInstance(cause) && { hint: cause.hint }),
  })
}

/** Counts costs unless the record is off. */
function costs({ settings, log, stores, opened }: ObservedParts): LazySubscriber | undefined {
  if (settings.audit === 'off' || !dailyCosts.isHere) return undefined
  return new LazySubscriber({
    name: 'costs',
    guards: false,
    wakes: ['run.started'],
    onError: (error) => log.warning('The costs of conversations cannot be counted', { error }),
    load: async () =>
      (await dailyCosts.for('MCP_BRIDGE_AUDIT')).createCostCounter({
        listedTokens: () => listedTokens(opened()),
        store: stores.of(undefined),
        onError: (error) => log.warning('The costs of conversations could not be saved', { error }),
      }),
  })
}

/** Of the tenant with most. Yields between servers: there may be thousands of tools. */
async function listedTokens(opened: ReturnType<ObservedParts['opened']>): Promise<number> {
  const { listingTokens } = await import('../calls/catalog/arguments/listing-tokens.ts')
  const sums = [0]
  for (const { catalog } of opened) {
    let sum = 0
    for (const { name } of catalog.servers()) {
      await nextTurn()
      sum += listingTokens(catalog.of(name).tools ?? [])
    }
    sums.push(sum)
  }
  return Math.max(...sums)
}

/** Hides the whole text if the server's definition is gone, since its secrets, which differ by user, are unknown. */
function redactFor(all: ReturnType<ObservedParts['opened']>, server: string, text: string): string {
  let isKnown = false
  let redacted = text
  for (const { upstreams } of all) {
    if (!upstreams.definitions.some(({ name }) => name === server)) continue
    isKnown = true
    redacted = upstreams.of(server).reports.redact(redacted)
  }
  return isKnown ? redacted : '[redacted]'
}
