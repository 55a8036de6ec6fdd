// Runs the cell of a `tools/call`: code of the model, or a workflow that the user exposes as a tool. Its outcome is a tool result in any case.
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Bridge } from '../bridge.ts'
import { TimeLimit } from '../cell/time-limit.ts'
import type { OtherLanguage, Settings } from '../config/settings.ts'
import { BridgeError } from '../errors.ts'
import { RunLog } from '../events/run-log.ts'
import type { Log } from '../log.ts'
import type { RenderOptions } from '../render/render-result.ts'
import type { Session } from '../session/session.ts'
import type { ExposedWorkflows } from '../workflows/exposure.ts'
import type { ClientQuirks } from './client-quirks.ts'
import { observedRun, type RunRequest } from './observed-run.ts'
import type { OpenRun } from './open-run.ts'
import type { OpenRuns } from './open-runs.ts'
import { parseRunPythonArguments } from './run-python-tool.ts'
import type { NewHandle, Sessions } from './sessions.ts'

/** What answers a client, once it is loaded: a bridge, and the client's sessions in it. */
export interface Conversation {
  bridge: Bridge
  sessions: Sessions
}

export interface ServerParts {
  settings: Settings
  log: Log
  /** The same at every call; nothing is read or started before the first. */
  getConversation: () => Promise<Conversation>
  /** The client names its session with each call: nothing else says which conversation that belongs to. */
  byHandle?: boolean
  /** Calls that wait for the client to come back, where it comes back to another instance. */
  runs?: OpenRuns
  /** Whom the client has shown the token of; missing for the owner of the bridge. */
  user?: string | undefined
}

type ExposedParts = Pick<ServerParts, 'settings' | 'user' | 'getConversation'>

/** The workflows of the user that MCP_BRIDGE_EXPOSE names, loaded at the first need. */
export function exposedWorkflows({ settings, user, getConversation }: ExposedParts): () => Promise<ExposedWorkflows> {
  let loading: Promise<ExposedWorkflows> | undefined
  const load = async (): Promise<ExposedWorkflows> => {
    const [{ ExposedWorkflows: Exposed }, { SavedToolStore }, { openStores }] = await Promise.all([
      import('../workflows/exposure.ts'),
      import('../state/saved-tool-store.ts'),
      import('../state/open-stores.ts'),
    ])
    // A list of tools waits for no bridge, except where only that one is connected to what is kept.
    const stores = settings.storage === undefined ? await openStores(settings) : (await getConversation()).bridge.stores
    return new Exposed(settings.expose, new SavedToolStore(stores.of(user)))
  }
  return () => (loading ??= load())
}

/** A workflow as a tool: the cell that calls it. */
export async function runExposed(
  parts: ServerParts,
  name: string,
  args: unknown,
  run: OpenRun,
  quirks: ClientQuirks,
  origin: RunRequest,
): Promise<CallToolResult> {
  let code: string | undefined
  try {
    code = await (await exposedWorkflows(parts)()).cell(name, args)
  } catch (error) {
    const { renderFailure } = await rendering()
    return { ...renderFailure(error, limitsOf(parts, quirks)) }
  }
  if (code !== undefined)
    return runPython(parts, { code, timeout: parts.settings.maxTimeoutMs / 1000 }, run, quirks, origin)
  const missing = new BridgeError('STATE_NOT_FOUND', `There is no workflow '${name}'`, {
    hint: 'Keep one with runtime.save_workflow(name, func).',
  })
  const { renderFailure } = await rendering()
  return { ...renderFailure(missing, limitsOf(parts, quirks)) }
}

/** Whatever goes wrong is a tool result that the model can read and act on (MCP 2025-11-25, Tools, Error Handling). */
export async function runPython(
  { settings, log, getConversation, byHandle = false, user }: ServerParts,
  args: unknown,
  run: OpenRun,
  quirks: ClientQuirks,
  origin: RunRequest,
  language?: OtherLanguage,
): Promise<CallToolResult> {
  const limits = limitsOf({ settings }, quirks)
  const runLog = new RunLog(log, origin.id, run.log.onLine)
  try {
    const {
      session: handle,
      note,
      ...request
    } = parseRunPythonArguments(args, settings, byHandle, language && { name: toolOf(language), runs: language })
    const { bridge, sessions } = await getConversation()
    bridge.questions.clientOffers(run.methods)
    const traced = {
      ...origin,
      ...(language && { tool: toolOf(language) }),
      trace: bridge.events.startTrace(origin.trace),
    }

    const timeLimit = new TimeLimit(request.timeoutMs)
    run.pauses(timeLimit)
    const { listeners } = run.progress
    const inSession = async function runInSession(session: Session, findHandle?: NewHandle): Promise<CallToolResult> {
      const result = await bridge.cells.run(session, {
        code: request.code,
        language,
        servers: request.servers,
        timeoutMs: request.timeoutMs,
        timeLimit,
        signal: run.signal,
        onPreparing: listeners.onPreparing,
        onOutput: listeners.onOutput,
        onProgress: listeners.onProgress,
        onToolCall: listeners.onToolCall,
        onUpstreamProgress: listeners.onUpstreamProgress,
        asker: run,
        run: { ...traced, log: runLog },
      })
      const newHandle = findHandle?.()
      if (newHandle !== undefined && run.signal.aborted) {
        // The handle was not delivered. The holder of the session releases it.
        throw new BridgeError('CANCELLED', 'The call was cancelled')
      }
      const keeps = settings.session === 'fresh' ? 'the output of this cell' : 'these variables'
      const way = newHandle === undefined ? {} : { session: { handle: newHandle, keeps } }
      const { renderResult } = await rendering()
      // When the answer has been handed to what sends it.
      if (!run.signal.aborted) setImmediate(() => session.delivered())
      return { ...renderResult(result, { ...limits, ...way, ...(note !== undefined && { note }) }) }
    }
    return await observedRun(bridge.events, traced, () => sessions.use(handle, inSession))
  } catch (error) {
    const more = runLog.failure('A cell failed to run', error, user === undefined ? {} : { user })
    const { renderFailure } = await rendering()
    return { ...renderFailure(error, { ...limits, ...(more !== undefined && { more }) }) }
  }
}

/** The name of the tool that runs a language. */
export function toolOf(language: OtherLanguage): string {
  return `run_${language}`
}

/** How a result is written, what it may cost, and whether it may hold data. */
export function limitsOf(
  { settings }: Pick<ServerParts, 'settings'>,
  { maxOutputTokens = Infinity, ...form }: ClientQuirks,
): Pick<RenderOptions, 'mode' | 'outputTokens' | 'structured' | 'errorsAsJson'> {
  return { mode: settings.outputMode, outputTokens: Math.min(settings.outputTokenCount, maxOutputTokens), ...form }
}

type Rendering = typeof import('../render/render-failure.ts') & typeof import('../render/render-result.ts')

let loading: Promise<Rendering> | undefined

/** How results and failures are put into words, loaded at the first need: a client has its list of tools before that. */
export function rendering(): Promise<Rendering> {
  loading ??= Promise.all([import('../render/render-failure.ts'), import('../render/render-result.ts')]).then(
    ([failure, result]) => ({ ...failure, ...result }),
  )
  return loading
}
