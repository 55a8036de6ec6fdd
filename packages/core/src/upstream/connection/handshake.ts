// Opens a connection: one transport, one era, one attempt with a timeout. The caller decides which to try, and when.
import type { Implementation } from '@modelcontextprotocol/client'
import { Connection } from './connection.ts'
import type { Link } from '../dial.ts'
import { DirectCalls } from './legacy/direct-calls.ts'
import type { Attempt } from '../lifecycle/attempt.ts'
import type { ServerReports } from '../lifecycle/server-reports.ts'
import { routeProgress } from './progress.ts'
import { untilAborted, withTimeout } from '../../util/async/wait.ts'
import type { ListingCleaner } from '../../config/secrets/listing-words.ts'
import { takeLogMessages } from './log-messages.ts'
import { MessageTap } from './message-tap.ts'
import { keepRawResults } from './modern/raw-results.ts'
import { capabilitiesFor, serveRequests, type UpstreamRequests } from './requests.ts'
import { NO_VERSION } from '../reading/handshake-results.ts'
import { DroppedError } from '../reading/words.ts'
import { CLIENT_INFO } from '../../util/package-root.ts'
import { BridgeError } from '../../errors.ts'
import { MODERN_REVISION, type Sdk } from './sdk.ts'
import { TASKS_EXTENSION } from './modern/task-extension.ts'

/** `legacy` starts with `initialize` (to 2025-11-25), `modern` with `server/discover` (from 2026-07-28). */
export type Era = 'legacy' | 'modern' | 'auto'

export interface HandshakeOptions {
  sdk: Sdk
  link: Link
  era: Era
  /** Fails where the server answers `initialize` without a protocol version. */
  needsVersion: boolean
  /** Which revisions to offer, newest first; missing for all. */
  versions: string[] | undefined
  clientInfo: Implementation
  allowSelf: boolean
  requests: UpstreamRequests
  timeoutMs: number
  /** How long the server may take to say which era it supports, when that is `auto`. */
  probeMs: number
  /** Ends the attempt in place of the timeout: the server may have to be installed. */
  expired?: Promise<void> | undefined
  signal: AbortSignal
  attempt: Attempt
  reports: ServerReports
  cleanListing: ListingCleaner
  onToolsChanged: () => void
  onOfferingsChanged: () => void
  /** The connection has ended. Called before the requests in flight fail; not called when the handshake fails. */
  onClose: (connection: Connection) => void
  /** The bridge closes the connection because the handshake failed. */
  onClosing: () => void
}

/** Closes the transport on failure. @throws any error of the MCP client package; see `startFailure`. */
export async function handshake(options: HandshakeOptions): Promise<Connection> {
  const { sdk, link, requests, attempt, reports, cleanListing } = options
  const isModern = options.era !== 'legacy'
  const progress = routeProgress()
  const direct = link.write && !isModern ? new DirectCalls(sdk, link.write) : undefined
  const tap = new MessageTap(link.transport, [
    ...(link.observers ?? []),
    ...(direct ? [direct] : []),
    ...(isModern ? [keepRawResults()] : []),
    takeLogMessages((message) => reports.message(message)),
    progress,
    { name: 'closing', closing: options.onClosing },
  ])
  const client = new sdk.Client(options.clientInfo, {
    capabilities: { ...capabilitiesFor(requests), ...(isModern && { extensions: TASKS_EXTENSION }) },
    ...(options.versions && { supportedProtocolVersions: options.versions }),
    versionNegotiation:
      options.era === 'modern'
        ? { mode: { pin: MODERN_REVISION } }
        : { mode: options.era, probe: { timeoutMs: options.probeMs } },
  })
  let lacksVersion = false
  client.onerror = (error) => {
    lacksVersion ||= error.message === NO_VERSION
    if (error instanceof DroppedError) reports.dropped(error.message)
    else reports.error(error.message)
  }
  client.removeNotificationHandler('notifications/progress')
  client.setNotificationHandler('notifications/tools/list_changed', options.onToolsChanged)
  client.setNotificationHandler('notifications/resources/list_changed', options.onOfferingsChanged)
  client.setNotificationHandler('notifications/prompts/list_changed', options.onOfferingsChanged)
  client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
    reports.finishedPages.add(params.elicitationId),
  )
  serveRequests(sdk, client, attempt.server, requests)
  try {
    await withinTime(options, client.connect(tap, { timeout: options.timeoutMs, signal: options.signal }))
    // The transport may have closed since the last response, and nothing else would report it.
    if (!client.transport) throw new sdk.SdkError(sdk.SdkErrorCode.ConnectionClosed, 'Connection closed')
    // It has started no servers yet, of which it would be one.
    if (!options.allowSelf && client.getServerVersion()?.name === CLIENT_INFO.name) throw isItself(attempt)
    if (options.needsVersion && lacksVersion)
      throw new sdk.SdkError(sdk.SdkErrorCode.EraNegotiationFailed, 'it names no protocol version')
  } catch (error) {
    await tap.close().catch(() => {})
    await link.release?.()
    throw error
  }
  const connection = new Connection({ client, link, progress, direct, requests, attempt, cleanListing })
  client.onclose = () => options.onClose(connection)
  // Awaited: some servers lose responses when they get two requests at once.
  await connection.begin((message) => reports.error(message))
  return connection
}

function isItself({ server, definition }: Attempt): BridgeError {
  return new BridgeError('CONFIG_INVALID', `Server '${server}' is Sandbridge itself, which would list itself forever`, {
    hint: `Take it out of ${definition.source.file}, or set MCP_BRIDGE_ALLOW_SELF_SERVER=1 for another Sandbridge.`,
  })
}

/** The package has a timeout for requests, but not for opening a transport: an event stream may never begin. */
function withinTime({ sdk, timeoutMs, expired, signal }: HandshakeOptions, connecting: Promise<void>): Promise<void> {
  const timeOut = (): never => {
    throw new sdk.SdkError(sdk.SdkErrorCode.RequestTimeout, 'Timed out')
  }
  const done = untilAborted(connecting, signal)
  return withTimeout(expired ? Promise.race([done, expired.then(timeOut)]) : done, timeoutMs, timeOut)
}
