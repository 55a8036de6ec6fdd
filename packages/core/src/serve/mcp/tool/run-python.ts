// Runs the cell of a `tools/call`. Every outcome, also a failure, is a tool result.
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { UpstreamNames } from '../../../bridge/tenants/kept-upstream-names.ts'
import type { RunCellRequest } from '../../../bridge/cells/cell.ts'
import { TimeLimit } from '../../../cell/time-limit.ts'
import type { OtherLanguage, Settings } from '../../../config/settings/settings.ts'
import { BridgeError } from '../../../errors.ts'
import { RunLog } from '../../../observe/events/run-log.ts'
import { textsIn } from '../../../util/json/json.ts'
import type { Log } from '../../../util/log.ts'
import { noticeLine } from '../../../cell/render/notice.ts'
import type { RenderOptions } from '../../../cell/render/render-result.ts'
import type { Session } from '../../../cell/session/session.ts'
import { apps } from '../apps-part.ts'
import type { ClientQuirks } from '../client/client-quirks.ts'
import type { Deliveries } from '../client/deliveries.ts'
import { observedRun, type RunRequest } from '../observed-run.ts'
import type { MakeOffer, OfferedCall, OfferedCell } from '../offer.ts'
import type { OpenRun } from '../runs/open-run.ts'
import type { OpenRuns } from '../runs/open-runs.ts'
import { parseRunPythonArguments } from './run-python-tool.ts'
import type { Conversation, NewHandle } from '../sessions.ts'

export interface ServerParts {
  settings: Settings
  log: Log
  /** Returns the same conversation at every call. Nothing is read or started before the first call. */
  getConversation: () => Promise<Conversation>
  /** The configured servers; missing while they cannot be read. */
  upstreamNames?: UpstreamNames | undefined
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
  /** A value of MCP_BRIDGE_TOOLS that the address of the client has, unchecked. */
  tools?: string | undefined
}

/** Runs what a call of a feature's tool stands for: a cell, which observers see as one of run_python, or a call. */
export async function runOffered(
  parts: ServerParts,
  tool: string,
  called: Promise<OfferedCell | OfferedCall>,
  run: OpenRun,
  quirks: ClientQuirks,
  origin: RunRequest,
): Promise<CallToolResult> {
  const timeoutMs = parts.settings.maxTimeoutMs
  try {
    const call = await called
    if (!('method' in call)) {
      const { code, note } = call
      return await runPython(parts, { code, timeout: timeoutMs / 1000 }, run, quirks, origin, { note })
    }
    const from = { ...origin, tool }
    // A client checks data by the schema of the tool, also that of an error.
    const own = { ...quirks, withData: false }
    const about = { timeoutMs, program: origin.client ?? '' }
    return await inSession(parts, run, own, from, about, async (session, { bridge }, request) => {
      const { result, notes, ownNotes } = await bridge.cells.call(session, call, request, (reply) =>
        call.resultOf(reply),
      )
      const all = call.note === undefined ? notes : [...notes, call.note]
      const content = [...result.content, ...all.map((note) => ({ type: 'text' as const, text: noticeLine(note) }))]
      bridge.cells.flows.shown(session, [...content, { type: 'text', text: besidesTexts(result) }], undefined, ownNotes)
      return { ...result, content }
    })
  } catch (error) {
    return failureResult(error, parts, { ...quirks, withData: false })
  }
}

/** What a server's result says in its links and data. */
function besidesTexts({ content, structuredContent }: CallToolResult): string {
  const links = content.map((block) => block.type === 'resource_link' && [block.title, block.description, block.uri])
  return [...textsIn([links, structuredContent])].join('\n')
}

/** Reports every failure as a result that the model can act on (MCP 2025-11-25, Tools, Error Handling). */
export async function runPython(
  parts: ServerParts,
  args: unknown,
  run: OpenRun,
  quirks: ClientQuirks,
  origin: RunRequest,
  { language, note: ofOffer }: { language?: OtherLanguage | undefined; note?: string | undefined } = {},
): Promise<CallToolResult> {
  const { settings, byHandle = false } = parts
  try {
    const tool = language && { name: toolOf(language), runs: language }
    const { session: handle, note = ofOffer, ...asked } = parseRunPythonArguments(args, settings, byHandle, tool)
    const from = { ...origin, ...(tool && { tool: tool.name }) }
    const about = { handle, timeoutMs: asked.timeoutMs }
    return await inSession(
      parts,
      run,
      quirks,
      from,
      about,
      async (session, { bridge, tenant }, request, findHandle) => {
        const ofApps = run.showsApps ? await apps.for('A client that shows apps') : undefined
        const result = await bridge.cells.run(session, {
          ...request,
          ...asked,
          language,
          apps: ofApps?.appsOf(session),
        })
        const newHandle = findHandle?.()
        if (newHandle !== undefined && run.signal.aborted) {
          // The handle was not delivered. The session's holder releases the session.
          throw new BridgeError('CANCELLED', 'The call was cancelled')
        }
        const keeps = settings.session === 'fresh' ? 'the output of this cell' : 'these variables'
        const way = newHandle === undefined ? {} : { session: { handle: newHandle, keeps } }
        const { renderResult } = await rendering()
        const { saved } = tenant.person.state
        const linked = quirks.picturesAsText && saved ? await saved.linkPictures(result) : result
        const shown = ofApps?.withAppNotes(linked) ?? linked
        // Runs after the response was handed to the transport.
        if (!run.signal.aborted) setImmediate(() => session.delivered())
        // As of the end of the cell: a setting may have changed meanwhile.
        const rendered = renderResult(shown, {
          ...limitsOf(parts, quirks),
          ...way,
          ...(note !== undefined && { note }),
        })
        bridge.cells.flows.shown(session, rendered.content, undefined, shown.ownNotes)
        return { ...rendered }
      },
    )
  } catch (error) {
    return failureResult(error, parts, quirks)
  }
}

type CommonRequest = Required<
  Pick<RunCellRequest, 'timeoutMs' | 'timeLimit' | 'signal' | 'listeners' | 'asker' | 'run'>
>

/** Does the work of a client's call in its session, told to observers as one run. */
async function inSession(
  { settings, log, getConversation, user }: ServerParts,
  run: OpenRun,
  quirks: ClientQuirks,
  origin: RunRequest,
  { handle, timeoutMs, program }: { handle?: string | undefined; timeoutMs: number; program?: string },
  work: (
    session: Session,
    conversation: Conversation,
    request: CommonRequest,
    findHandle?: NewHandle,
  ) => Promise<CallToolResult>,
): Promise<CallToolResult> {
  const runLog = new RunLog(log, origin.id, run.log.onLine)
  try {
    const conversation = await getConversation()
    const { bridge, sessions, tenant } = conversation
    tenant.clientOffers(run.abilities)
    const traced = { ...origin, trace: bridge.events.startTrace(origin.trace) }
    const timeLimit = new TimeLimit(timeoutMs)
    run.pauses(timeLimit)
    const request = {
      timeoutMs,
      timeLimit,
      signal: run.signal,
      listeners: run.progress.listeners,
      asker: run,
      run: { ...traced, log: runLog, seen: sessions.seen },
    }
    const inIt = (session: Session, findHandle?: NewHandle) => {
      // No client has its handle yet.
      const leave = () => (session.isLeft = true)
      if (findHandle && handle === undefined) run.signal.addEventListener('abort', leave, { once: true })
      run.onShown = (text) => bridge.cells.flows.shown(session, [{ type: 'text', text }])
      return work(session, conversation, request, findHandle)
    }
    return await observedRun(bridge.events, traced, () => sessions.use(handle, inIt, program))
  } catch (error) {
    const more = runLog.failure('A cell failed to run', error, user === undefined ? {} : { user })
    const failed = await failureResult(error, { settings }, quirks, more)
    // It may quote a server.
    run.onShown?.(failed.content.map((block) => ('text' in block ? block.text : '')).join('\n'))
    return failed
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

/** @param more further text for the reader */
export async function failureResult(
  error: unknown,
  parts: Pick<ServerParts, 'settings'>,
  quirks: ClientQuirks,
  more?: string,
): Promise<CallToolResult> {
  const { renderFailure } = await rendering()
  return { ...renderFailure(error, { ...limitsOf(parts, quirks), ...(more !== undefined && { more }) }) }
}

let loading: Promise<typeof import('../../../cell/render/render-result.ts')> | undefined

/** Loaded at the first result: a client gets its list of tools before that. */
function rendering() {
  return (loading ??= import('../../../cell/render/render-result.ts'))
}
