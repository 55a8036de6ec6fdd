// Runs the cell of a `tools/call`: the model's code, or that of a feature's tool. Every outcome, also a failure, is a
// tool result.
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Bridge } from '../../bridge/bridge.ts'
import type { Tenant } from '../../bridge/tenant.ts'
import { TimeLimit } from '../../cell/time-limit.ts'
import type { OtherLanguage, Settings } from '../../config/settings/settings.ts'
import { BridgeError } from '../../errors.ts'
import { RunLog } from '../../observe/events/run-log.ts'
import type { Log } from '../../util/log.ts'
import type { RenderOptions } from '../../cell/render/render-result.ts'
import type { Session } from '../../cell/session/session.ts'
import { withAppNotes } from './apps/app-tool.ts'
import type { ClientQuirks } from './client-quirks.ts'
import type { Deliveries } from './deliveries.ts'
import { observedRun, type RunRequest } from './observed-run.ts'
import type { MakeOffer } from './offer.ts'
import type { OpenRun } from './runs/open-run.ts'
import type { OpenRuns } from './runs/open-runs.ts'
import { parseRunPythonArguments } from './run-python-tool.ts'
import type { NewHandle, Sessions } from './sessions.ts'

/** A loaded bridge, and the client's sessions in it. */
export interface Conversation {
  bridge: Bridge
  sessions: Sessions
  /** Whose servers, rules and state they are. */
  tenant: Tenant
}

export interface ServerParts {
  settings: Settings
  log: Log
  /** Returns the same conversation at every call. Nothing is read or started before the first call. */
  getConversation: () => Promise<Conversation>
  /** The configured servers, for the instructions: see `serversBehind`. */
  behind?: string | undefined
  /** Whether every result repeats what the server says of itself, as since 2026-07-28. It is then kept short. */
  isModern?: boolean
  /** The client names its session with each call; nothing else identifies the conversation. */
  byHandle?: boolean
  /** Calls that wait for the client to come back, when another instance will serve that request. */
  runs?: OpenRuns
  /** Of its connection. Missing over HTTP, where each response has its own. */
  deliveries?: Deliveries
  /** The user of the client's token; missing for the owner of the bridge. */
  user?: string | undefined
  /** What features offer beside run_python. */
  offers?: readonly MakeOffer[]
}

/** Runs the cell that a call of a feature's tool stands for. */
export async function runOffered(
  parts: ServerParts,
  cell: Promise<string>,
  run: OpenRun,
  quirks: ClientQuirks,
  origin: RunRequest,
): Promise<CallToolResult> {
  try {
    const timeout = parts.settings.maxTimeoutMs / 1000
    return await runPython(parts, { code: await cell, timeout }, run, quirks, origin)
  } catch (error) {
    const { renderFailure } = await rendering()
    return { ...renderFailure(error, limitsOf(parts, quirks)) }
  }
}

/**
 * Reports every failure as a tool result that the model can read and act on (MCP 2025-11-25, Tools, Error Handling).
 */
export async function runPython(
  { settings, log, getConversation, byHandle = false, user }: ServerParts,
  args: unknown,
  run: OpenRun,
  quirks: ClientQuirks,
  origin: RunRequest,
  language?: OtherLanguage,
): Promise<CallToolResult> {
  // As of the end of the cell: a setting may have changed meanwhile.
  const limits = () => limitsOf({ settings }, quirks)
  const runLog = new RunLog(log, origin.id, run.log.onLine)
  try {
    const {
      session: handle,
      note,
      ...request
    } = parseRunPythonArguments(args, settings, byHandle, language && { name: toolOf(language), runs: language })
    const { bridge, sessions, tenant } = await getConversation()
    tenant.clientOffers(run.abilities)
    const traced = {
      ...origin,
      ...(language && { tool: toolOf(language) }),
      trace: bridge.events.startTrace(origin.trace),
    }

    const timeLimit = new TimeLimit(request.timeoutMs)
    run.pauses(timeLimit)
    const inSession = async function runInSession(session: Session, findHandle?: NewHandle): Promise<CallToolResult> {
      run.onShown = (text) => bridge.cells.flows.shown(session, [{ type: 'text', text }])
      const result = await bridge.cells.run(session, {
        code: request.code,
        language,
        servers: request.servers,
        timeoutMs: request.timeoutMs,
        timeLimit,
        signal: run.signal,
        listeners: run.progress.listeners,
        showsApps: run.showsApps,
        asker: run,
        run: { ...traced, log: runLog, seen: sessions.seen },
      })
      const newHandle = findHandle?.()
      if (newHandle !== undefined && run.signal.aborted) {
        // The handle was not delivered. The session's holder releases the session.
        throw new BridgeError('CANCELLED', 'The call was cancelled')
      }
      const keeps = settings.session === 'fresh' ? 'the output of this cell' : 'these variables'
      const way = newHandle === undefined ? {} : { session: { handle: newHandle, keeps } }
      const { renderResult } = await rendering()
      const linked = quirks.imagesAsText
        ? await (await import('./link-images.ts')).linkImages(result, tenant.person.state.artifacts)
        : result
      const shown = run.showsApps ? withAppNotes(linked) : linked
      // Runs after the response was handed to the transport.
      if (!run.signal.aborted) setImmediate(() => session.delivered())
      const rendered = renderResult(shown, { ...limits(), ...way, ...(note !== undefined && { note }) })
      bridge.cells.flows.shown(session, rendered.content)
      return { ...rendered }
    }
    return await observedRun(bridge.events, traced, () => sessions.use(handle, inSession))
  } catch (error) {
    const more = runLog.failure('A cell failed to run', error, user === undefined ? {} : { user })
    const { renderFailure } = await rendering()
    return { ...renderFailure(error, { ...limits(), ...(more !== undefined && { more }) }) }
  }
}

/** The name of the tool that runs a language. */
export function toolOf(language: OtherLanguage): string {
  return `run_${language}`
}

/** The format and size of a result, and whether it may hold structured data. */
export function limitsOf(
  { settings }: Pick<ServerParts, 'settings'>,
  { maxOutputTokens = Infinity, withData = false, errorsAsJson = false, errorsTwice = false }: ClientQuirks,
): Pick<RenderOptions, 'mode' | 'outputTokens' | 'withData' | 'errorsAsJson' | 'errorsTwice'> {
  const outputTokens = Math.min(settings.outputTokenCount, maxOutputTokens)
  return { mode: settings.outputMode, outputTokens, withData, errorsAsJson, errorsTwice }
}

type Rendering = typeof import('../../cell/render/render-failure.ts') &
  typeof import('../../cell/render/render-result.ts')

let loading: Promise<Rendering> | undefined

/** Loads the rendering of results and failures at the first use: a client gets its list of tools before that. */
export function rendering(): Promise<Rendering> {
  loading ??= Promise.all([
    import('../../cell/render/render-failure.ts'),
    import('../../cell/render/render-result.ts'),
  ]).then(([failure, result]) => ({ ...failure, ...result }))
  return loading
}
