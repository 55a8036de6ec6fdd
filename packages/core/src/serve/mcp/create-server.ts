// The MCP server that a client talks to: run_python, other languages, what features offer, resources. One instance
// serves one connection; over HTTP in the modern era, one request.
import {
  type CallToolRequestParams,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  inputRequired,
  type JSONObject,
  type LoggingLevel,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Server,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { BridgeError, messageOf } from '../../errors.ts'
import { listText } from '../../util/text/count.ts'
import { shortName } from '../../util/text/server-words.ts'
import { VERSION } from '../../util/package-root.ts'
import { maskerFor, OUTPUT_TEMPLATE, readOutputResource } from './output-resources.ts'
import { apps, SHOW_APP, showsApps } from './apps-part.ts'
import { type ClientQuirks, quirksOf } from './client/client-quirks.ts'
import { ofResponse } from './client/deliveries.ts'
import { runRequest } from './observed-run.ts'
import type { Offer } from './offer.ts'
import { abilitiesOf, isRunState, type OpenRun, type RunEvent } from './runs/open-run.ts'
import { knowsTasks, type LateAnswer, type ServedTasks, serveTasks, taskEra, tasks } from './runs/tasks-part.ts'
import { OpenRuns } from './runs/open-runs.ts'
import { rehearse } from './tool/rehearse.ts'
import { sendQuestion } from './client/send-question.ts'
import { failureResult, limitsOf, runOffered, runPython, type ServerParts, toolOf } from './tool/run-python.ts'
import { PlainServer } from './plain-server.ts'
import { marked, RUN_PYTHON_TOOL, RUN_PYTHON_TOOL_WITH_SESSION, serverInstructions } from './tool/run-python-tool.ts'

const CAPABILITIES_RESOURCE = {
  uri: 'resource://mcp-server-code-execution-mode/capabilities',
  name: 'capabilities',
  title: 'What run_python can do',
  mimeType: 'text/markdown',
}

/** Tools in an error about one that is unknown. */
const MAX_NAMED = 20

export function createServer(parts: ServerParts): Server {
  const { log, getConversation, byHandle = false, runs = new OpenRuns() } = parts
  const { languages, outputMode } = parts.settings
  const { text: namesText, hasDirect } = parts.upstreamNames ?? {}
  const offers = (parts.offers ?? []).flatMap((make) => make({ ...parts, hasDirect }) ?? [])
  const hasTasks = tasks.isHere
  const announced: ServerCapabilities = hasTasks ? taskEra(parts.isModern).capabilities : {}
  const extensions: Record<string, JSONObject> = Object.assign(
    {},
    announced.extensions,
    ...offers.map(({ capabilities }) => capabilities.extensions),
  )
  /** What a client is offered in place of code. */
  const instead = offers.find(({ inPlaceOfCode }) => inPlaceOfCode !== undefined)
  const instructions = serverInstructions(namesText, instead?.inPlaceOfCode)
  const server = new PlainServer(
    {
      name: 'sandbridge',
      version: VERSION,
      title: 'Sandbridge',
      ...(!parts.isModern && { description: instructions }),
    },
    {
      capabilities: {
        tools: {},
        resources: {},
        logging: {},
        ...announced,
        ...Object.assign({}, ...offers.map(({ capabilities }) => capabilities)),
        ...(Object.keys(extensions).length > 0 && { extensions }),
      },
      instructions,
    },
  )

  /** In the modern era each request states the client's capabilities, in the older era the handshake did. */
  function capabilitiesOf({ mcpReq }: ServerContext): ClientCapabilities {
    // The package types the envelope as empty, although it validates the content.
    const envelope = mcpReq.envelope as Record<string, ClientCapabilities> | undefined
    return envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {}
  }

  function quirksFor({ mcpReq }: ServerContext): ClientQuirks {
    const envelope = mcpReq.envelope as Record<string, { name?: string }> | undefined
    return quirksOf(envelope?.[CLIENT_INFO_META_KEY]?.name ?? server.getClientVersion()?.name)
  }

  // Replaces the SDK's handler, which sends everything to a client that has set no level.
  let logLevel: LoggingLevel | undefined
  server.setRequestHandler('logging/setLevel', ({ params }) => {
    logLevel = params.level
    return {}
  })

  async function warmUp(capabilities: ClientCapabilities): Promise<void> {
    try {
      const { bridge, tenant } = await getConversation()
      tenant.clientOffers(abilitiesOf(capabilities))
      if (instead) await tenant.warmUp()
      else {
        bridge.warmUp(tenant)
        await rehearse(createServer, parts)
      }
    } catch (error) {
      log.error('Preparing the first sandbox failed', { error })
    }
  }

  server.setRequestHandler('tools/list', async (_request, context) => {
    // The client is about to use the tool: prepare a sandbox, but answer the client first.
    const capabilities = capabilitiesOf(context)
    setImmediate(() => void warmUp(capabilities))
    const others =
      languages.length > 0 ? (await import('./tool/language-tools.ts')).languageTools(parts.settings, byHandle) : []
    const code = instead ? [] : [byHandle ? RUN_PYTHON_TOOL_WITH_SESSION : RUN_PYTHON_TOOL, ...others]
    const own = code.map((tool) => marked(tool, parts.settings))
    const callable =
      hasTasks && !parts.isModern
        ? own.map((tool) => ({ ...tool, execution: { taskSupport: 'optional' as const } }))
        : own
    const all = [...callable, ...(await offeredTools(capabilities))]
    return { tools: showsApps(capabilities) ? (await apps.for(SHOW_APP)).withShowApp(all, byHandle) : all }
  })

  async function offerOf(tool: string, capabilities: ClientCapabilities): Promise<Offer | undefined> {
    for (const offer of offers) if (await offer.has(tool, abilitiesOf(capabilities))) return offer
    return undefined
  }

  /** The first call says what is wrong with a setting, such as the name of a profile. */
  const withoutThem = (error: unknown) => {
    if (instead || !BridgeError.isInstance(error) || error.code !== 'CONFIG_INVALID') throw error
    return []
  }
  const offeredTools = async (capabilities: ClientCapabilities) =>
    (await Promise.all(offers.map(async (offer) => offer.tools(abilitiesOf(capabilities)).catch(withoutThem)))).flat()

  for (const offer of offers) offer.answer(server)

  server.setRequestHandler('tools/call', (request, context) => runs.answer(() => callTool(request.params, context)))

  async function callTool({ name, arguments: args, task }: CallToolRequestParams, context: ServerContext) {
    if (name === SHOW_APP && showsApps(capabilitiesOf(context)))
      return (await apps.for(name)).showApp(args, await getConversation(), byHandle)
    const ofCode = instead ? [] : [RUN_PYTHON_TOOL.name, ...languages.map(toolOf)]
    const isCode = ofCode.includes(name)
    const language = isCode ? languages.find((one) => name === toolOf(one)) : undefined
    const offer = isCode ? undefined : await offerOf(name, capabilitiesOf(context))
    if (!isCode && !offer) {
      const names = [...ofCode, ...(await offeredTools(capabilitiesOf(context))).map((tool) => tool.name)]
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool '${shortName(name)}'; ${toolsText(names)}`)
    }
    const state = context.mcpReq.requestState<string>()
    if (state !== undefined && !isRunState(state)) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        'The request state is not one of this server. No code ran.',
      )
    }
    const quirks = quirksFor(context)
    const wantsTask = hasTasks && task !== undefined && !parts.isModern
    const mayBeTask = wantsTask || (context.mcpReq.envelope !== undefined && knowsTasks(capabilitiesOf(context)))
    const asTask = hasTasks && mayBeTask ? (await served()).taskFor(wantsTask) : undefined
    let run: OpenRun
    try {
      const send = wantsTask ? undefined : sendQuestion(server, context)
      run = state ? runs.resume(state) : runs.add(capabilitiesOf(context), send)
    } catch (error) {
      return failureResult(error, parts, quirks)
    }
    const session = byHandle ? (offer ? undefined : handleIn(args)) : ''
    const late = latenessOf(context, session, quirks, asTask)
    const until = performance.now() + late.afterMs
    const earlier: CallToolResult[] = []
    const fetched: OpenRun[] = []
    for (const before of session === undefined || state ? [] : runs.lateIn(session)) {
      const event = await eventOf(before, context, until)
      if (!event || !('result' in event)) {
        runs.delete(run)
        return event ? questionsOf(before, event) : (await lateAnswers()).stillRunning(before, false, outputMode)
      }
      // Another call may have waited for it, too.
      if (runs.delete(before)) {
        earlier.push(event.result)
        fetched.push(before)
      }
    }
    if (context.mcpReq.signal.aborted) run.cancel()
    if (!state) {
      const origin = { ...runRequest(server, context), user: parts.user }
      run.origin = origin
      run.onFetched = () => void tellDelivered(run, true)
      const own =
        earlier.length === 0
          ? quirks
          : {
              ...quirks,
              maxOutputTokens: (await lateAnswers()).tokensLeft(limitsOf(parts, quirks).outputTokens, earlier),
            }
      const running = offer
        ? runOffered(parts, name, offer.callOf(name, args ?? {}, run.abilities), run, own, origin)
        : runPython(parts, args, run, own, origin, { language })
      run.start(
        earlier.length === 0
          ? running
          : running.then(async (result) => (await lateAnswers()).withEarlier(earlier, result)),
      )
    }
    run.answer(context.mcpReq.inputResponses)
    const tell = async (isDelivered: boolean | undefined) => {
      for (const one of [...fetched, run]) await tellDelivered(one, isDelivered)
    }
    const response = ofResponse.getStore()
    if (response) response.onLost = (isDelivered) => void tell(isDelivered)
    const event = wantsTask ? undefined : await eventOf(run, context, until)
    if (!event) return late.answer(run)
    if (!('result' in event)) return questionsOf(run, event)
    runs.delete(run)
    const { signal, id } = context.mcpReq
    const deliveries = parts.deliveries ?? response
    if (signal.aborted || !deliveries) await tell(!signal.aborted)
    else deliveries.sent(id, (isDelivered) => void tell(isDelivered))
    return event.result
  }

  /** @param delivered undefined: it was handed over, and nothing more is known */
  async function tellDelivered({ origin }: OpenRun, delivered: boolean | undefined): Promise<void> {
    if (!origin) return
    // A bridge that could not be opened has no observers.
    const opened = await getConversation().catch(() => undefined)
    const { id, client, user } = origin
    opened?.tenant.person.journals?.delivered(id, delivered)
    opened?.bridge.events.emit({ type: 'run.delivered', id, client, user, delivered: delivered === true })
  }

  /** When a call is answered whose cell still runs, and with what: as a task, or that its result comes later. */
  function latenessOf(
    context: ServerContext,
    session: string | undefined,
    quirks: ClientQuirks,
    asTask: LateAnswer | undefined,
  ): Required<LateAnswer> {
    const { _meta: meta } = context.mcpReq
    const wantsProgress = meta?.progressToken !== undefined
    const afterMs = session === undefined || wantsProgress || quirks.waits ? Infinity : runs.patienceMs
    if (asTask) return { afterMs, ...asTask }
    const answer = async (run: OpenRun) => {
      await tellDelivered(run, false)
      runs.goOn(run, session!)
      return (await lateAnswers()).stillRunning(run, true, outputMode)
    }
    return { afterMs, answer }
  }

  let ownTasks: ServedTasks | undefined
  const served = async () => {
    const all = await runs.tasks()
    return (ownTasks ??= all.serve(server, parts.isModern === true, capabilitiesOf))
  }
  if (hasTasks) serveTasks(server, parts.isModern === true, served)

  /** What a run gives next, as an answer to this request; undefined when its client would have given up by then. */
  async function eventOf(run: OpenRun, context: ServerContext, until: number): Promise<RunEvent | undefined> {
    const { mcpReq } = context
    run.progress.reportTo(context)
    run.log.reportTo(context, () => logLevel)
    const onAbort = () => run.cancel()
    mcpReq.signal.addEventListener('abort', onAbort, { once: true })
    const event = await run.nextWithin(until)
    // This answers a standalone request, which may close while the run goes on.
    if (byHandle || !event) mcpReq.signal.removeEventListener('abort', onAbort)
    await Promise.all([run.progress.stop(), run.log.stop()])
    return event
  }

  function questionsOf(run: OpenRun, { questions, state }: Extract<RunEvent, { questions: unknown }>) {
    runs.awaitAnswer(run)
    return inputRequired({ inputRequests: questions, requestState: state })
  }

  server.setRequestHandler('resources/list', async () => {
    const { bridge, sessions, tenant } = await getConversation()
    const kept = await tenant.person.state.saved?.listResources(maskerFor(bridge, sessions))
    if (kept) await bridge.cells.read({ tenant, seen: sessions.seen }, 'artifacts', { names: kept.names })
    const offered = await Promise.all(offers.map(async (offer) => (await offer.resources?.()) ?? []))
    return { resources: [CAPABILITIES_RESOURCE, ...offered.flat(), ...(kept?.resources ?? [])] }
  })

  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [OUTPUT_TEMPLATE] }))

  async function readKept(uri: string): Promise<ReadResourceResult | undefined> {
    const { bridge, sessions, tenant } = await getConversation()
    try {
      const output = readOutputResource(sessions.readable(), uri)
      // The client may hand it to its model.
      if (output) {
        for (const session of sessions.readable()) bridge.cells.flows.shown(session, contentOf(output))
        return output
      }
      const found = await tenant.person.state.saved?.readResource(uri, maskerFor(bridge, sessions))
      if (!found) return undefined
      const { read, ...kept } = found
      const reader = { tenant, seen: sessions.seen }
      await bridge.cells.read(reader, 'artifacts', { ...kept, content: contentOf(read) })
      return read
    } catch (error) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, messageOf(error), { uri })
    }
  }

  server.setRequestHandler('resources/read', async (request, context) => {
    const { uri } = request.params
    const viewer = showsApps(capabilitiesOf(context)) ? (await apps.for(SHOW_APP)).readViewer(uri) : undefined
    if (viewer) return viewer
    for (const offer of offers) {
      const found = await offer.read?.(uri)
      if (found) return found
    }
    const kept = await readKept(uri)
    if (kept) return kept
    if (uri !== CAPABILITIES_RESOURCE.uri) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown resource '${shortName(uri)}'`, { uri })
    }
    const { bridge, sessions, tenant } = await getConversation()
    const summary = await tenant.capabilitySummary()
    // Cells write the descriptions of saved tools.
    const text = (await maskerFor(bridge, sessions)?.masked((mask) => mask(summary))) ?? summary
    return { contents: [{ uri, mimeType: CAPABILITIES_RESOURCE.mimeType, text }] }
  })

  return server
}

/** Says which tools a client may call. */
function toolsText(names: string[]): string {
  if (names.length === 0) return 'there are none now'
  if (names.length === 1) return `the only one is ${names[0]}`
  return `there are ${listText(names.slice(0, MAX_NAMED), Math.max(0, names.length - MAX_NAMED))}`
}

const lateAnswers = () => import('./runs/late-answers.ts')

/** The session that a call names. */
function handleIn(args: Record<string, unknown> | undefined): string | undefined {
  const handle = args?.['session']
  return typeof handle === 'string' ? handle : undefined
}

function contentOf({ contents }: ReadResourceResult): { type: string; text?: string }[] {
  return contents.map((one) => ('text' in one ? { type: 'text', text: one.text } : { type: 'blob' }))
}
