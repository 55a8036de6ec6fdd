// Serves the calls of cells: the only place that decides what the sandbox may ask for. Methods: docs/protocol.md.
import { namesOf } from './catalog/signature/json-schema.ts'
import * as z from 'zod'
import { hashInTurns } from '../util/json/arguments-hash.ts'
import { bindArguments, shortened } from './catalog/arguments/bind.ts'
import type { Wordings } from './catalog/search-part.ts'
import type { ToolDoc } from './catalog/arguments/tool-doc.ts'
import type { Detail } from './catalog/arguments/tool-line.ts'
import type { Catalog } from './catalog/catalog.ts'
import { BridgeError, messageOf } from '../errors.ts'
import type { Cancellation } from '../util/async/cancellation.ts'
import { turnAfterLongWork } from '../util/async/wait.ts'
import { boundedList } from '../util/json/bounded-schema.ts'
import type { CatalogTool } from './catalog/model/catalog-tool.ts'
import type { Admitted } from './permissions/gates-part.ts'
import { forbiddenNote, leftOutNotes, resultForSandbox } from './tool-result.ts'
import type { CallOptions, ToolResult } from '../upstream/upstream.ts'
import { capabilitySummary, summarisedServers } from './capability-summary.ts'
import { checkMethods } from './methods/check-calls.ts'
import { checkToolCall } from './methods/tool-call-params.ts'
import {
  type CallContext,
  type CellContext,
  method,
  resultsFor,
  tellingMethod,
  type Methods,
} from './methods/method.ts'
import { languageMethods, sessionMethods } from './methods/session-methods.ts'
import { type Admit, SERVER_METHODS } from './methods/resource-methods.ts'
import type { SessionFlow } from './flow-part.ts'
import type { JournaledCall } from './once-part.ts'
import { soundsReadOnly } from '../config/rules/hints.ts'
import { allowedServer } from './scope.ts'
import { observed } from './observed-call.ts'
import { forPerson } from './person-hint.ts'
import { skippedNote, unsearchedNews, unsearchedNote } from './notes/unsearched-note.ts'
import { withUser } from './questions/with-user.ts'

const detail = z.enum(['summary', 'full']).default('summary')
const name = z.string().min(1).max(1_000)
const wording = z.string()
const MAX_AT_ONCE = 50

const MAX_SERVERS = 1_000

/** Serves every tool call of a cell. For speed: no zod, no AbortSignal, no waiting for what is already known. */
function callTool(params: unknown, context: CellContext, cancellation: Cancellation): Promise<unknown> {
  const { server, tool, args, kwargs, raw, exact, again } = checkToolCall(params)
  const { catalog, upstreams, scope, session, listeners, permissions } = context
  const serverName = allowedServer(server, catalog, scope)
  context.called.servers.add(serverName)
  let earlier: { tool: CatalogTool; call: Admitted } | undefined
  let failed: CatalogTool | undefined
  let journaled: JournaledCall | undefined
  // A call that goes on after a sign-in or a page has been admitted already.
  const admit: Admit = async (found, given) => {
    if (!permissions) return { args: given }
    // A tool may have changed meanwhile; a method of every server is made anew and never changes.
    const isSame = found.method === undefined ? earlier?.tool === found : earlier?.tool.method === found.method
    try {
      const call =
        earlier && isSame
          ? await permissions.admitAgain(found, earlier.call, cancellation)
          : await permissions.admit(found, given, cancellation)
      earlier = { tool: found, call }
      return call
    } catch (error) {
      if (!cancellation.aborted) context.called.refused(found)
      throw error
    }
  }
  return withUser(serverName, context, cancellation, async function callFoundTool() {
    if (failed) context.called.repeated(failed)
    failed = undefined
    const refreshed = permissions?.ready(serverName, cancellation)
    if (refreshed) await refreshed
    const found = catalog.knownTool(serverName, tool) ?? (await catalog.findTool(serverName, tool, cancellation.signal))
    try {
      permissions?.refuseDenied(found)
    } catch (error) {
      context.called.refused(found)
      throw error
    }
    if (found.method) {
      const reply = await SERVER_METHODS[found.method](found, args, kwargs, raw, {
        ...context,
        signal: cancellation.signal,
        admit,
      })
      if (found.method !== 'list_tools') context.flow?.returned({ server: serverName, name: found.method }, reply)
      return reply
    }
    let bound: Record<string, unknown>
    try {
      bound = bindArguments(found, args, kwargs, { exact })
    } catch {
      const turn = turnAfterLongWork()
      if (turn) await turn
      const { signal } = cancellation
      bound = await shortened(context.seenErrors, found, () => catalog.bindCall(found, args, kwargs, { exact }, signal))
    }
    const hashing = hashInTurns(bound)
    if (hashing) await hashing
    if (context.journal && !journaled) {
      const entered = context.journal.enter({
        tool: found,
        args: bound,
        isAgain: again,
        definition: () => upstreams.definitions.find((one) => one.name === serverName),
        reading: () => readingTools(catalog, found),
      })
      journaled = entered instanceof Promise ? await entered : entered
    }
    const { name: toolName } = found
    const isNamed = namesOf(found.inputSchema)
    const answer = journaled?.answer
    if (answer) {
      permissions?.refuseDenied(found, bound)
      const about = { kind: 'tool', server: serverName, name: toolName, isNamed, args: bound, isReused: true } as const
      const reused = await observed(context, about, () => Promise.resolve(answer))
      context.flow?.returned({ server: serverName, name: toolName }, reused)
      return resultForSandbox(found, reused, raw)
    }
    const admitted = permissions && (await admit(found, bound))
    const allowedArgs = admitted?.args ?? bound
    // For speed, one literal.
    const call = {
      kind: 'tool',
      server: serverName,
      name: toolName,
      isNamed,
      args: journaled ? journaled.sentArgs(allowedArgs) : allowedArgs,
      id: admitted?.id,
      allowed: admitted?.allowed,
      flow: admitted?.flow,
    } as const
    context.flow?.sent(serverName, call.args)
    let isSent = false
    const sent = observed(context, call, ({ meta, onProgress: tell }) => {
      const options: CallOptions = { signal: cancellation, ...(meta && { meta }) }
      const { onUpstreamProgress } = listeners ?? {}
      if (onUpstreamProgress) {
        options.onProgress = ({ progress, ...rest }) => {
          onUpstreamProgress({ name: `${serverName}.${found.name}`, done: progress, ...rest })
          tell?.({ done: progress, ...rest })
        }
      }
      context.called.begun(found)
      isSent = true
      const make = () => upstreams.callTool(serverName, found.name, call.args, options)
      return journaled?.sent()?.then(make) ?? make()
    })
    let result: ToolResult
    try {
      result = await sent
    } catch (error) {
      // A cancelled call may have taken effect.
      if (isSent && !cancellation.aborted) {
        context.called.answered(found, true)
        failed = found
      }
      if (!isSent) context.called.refused(found)
      else await journaled?.ended(undefined, error)
      context.learned?.noteError(context, found, call.args, error)
      throw error
    }
    const received = turnAfterLongWork()
    if (received) await received
    const noted = journaled?.ended(result)
    if (noted) await noted
    context.called.answered(found, result.isError === true)
    context.flow?.returned({ server: serverName, name: found.name }, result)
    const forbidden = forbiddenNote(session.told, found, result)
    if (forbidden) context.notes.add(forbidden)
    if (context.learned) {
      catalog.learn(context.learned.shapes, serverName, found.name, result, context.origin.user)
      context.learned.noteResult(context, found, call.args, result.isError === true)
    }
    await context.apps?.keep(found, call.args, result, { ...context, signal: cancellation.signal })
    const noticed = turnAfterLongWork()
    if (noticed) await noticed
    const reply = resultForSandbox(found, result, raw)
    for (const note of leftOutNotes(found, result, reply)) context.notes.add(note)
    return reply
  })
}

/** How to find out what a call has done: up to two tools of its server that only read. */
function readingTools(catalog: Catalog, { server }: CatalogTool): string[] {
  const tools = catalog.of(server).tools ?? []
  return tools
    .filter(({ name: own, definition }) => soundsReadOnly(own, definition.annotations))
    .slice(0, 2)
    .map((one) => `mcp_${one.serverAlias}.${one.alias}`)
}

/** The docs of a server's tools, or of those named. A list of all says which the server has beside them. */
async function serverDocs(
  server: string,
  options: NonNullable<Parameters<Catalog['docs']>[1]>,
  context: CallContext,
): Promise<ToolDoc[]> {
  const { catalog, signal, notes } = context
  const docs = await withUser(server, context, signal, () => catalog.docs(server, options, signal))
  const note = options.tools ? undefined : skippedNote(server, catalog.of(server).skipped)
  if (note) notes.add(note)
  return docs
}

/** Searches servers' tools and, unless servers are named, saved tools, in one ranking. */
async function searchTools(
  query: Wordings,
  options: { limit: number; servers: string[]; detail: Detail },
  withSaved: boolean,
  context: CallContext,
): Promise<ToolDoc[]> {
  const { catalog, state, session, learned, flow, signal } = context
  const all = { ...options, learned, resultsOf: resultsFor(context) }
  const saved = withSaved ? state.saved : undefined
  const docs = await (saved?.search(query, all, context) ?? catalog.search(query, all, signal))
  if (!saved) flow?.told(docs)
  learned?.noteSearch(session, [query].flat(), docs)
  return docs
}

export const ownMethods: Methods = {
  call_tool: callTool,

  discovered_servers: method(z.object({}), (_, { catalog, scope }) => [
    ...catalog
      .servers()
      .filter((server) => scope.has(server.name))
      .map(({ name: serverName, alias, description, state }) => ({ name: serverName, alias, description, state })),
    ...scope.unloaded.map(({ name: serverName, alias, description = '' }) => {
      return { name: serverName, alias, description, state: 'not-loaded' }
    }),
  ]),

  list_tools: method(z.object({ server: name }), ({ server }, context) => {
    const serverName = allowedServer(server, context.catalog, context.scope)
    return serverDocs(serverName, { resultsOf: resultsFor(context) }, context)
  }),

  query_tool_docs: method(
    z.object({ server: name, tool: name.nullish(), tools: z.array(name).max(MAX_AT_ONCE).nullish(), detail }),
    ({ server, tool, tools = tool ? [tool] : undefined, detail: wanted }, context) => {
      const { catalog, scope, learned } = context
      const serverName = allowedServer(server, catalog, scope)
      const options = { ...(tools && { tools }), detail: wanted, learned, resultsOf: resultsFor(context) }
      return serverDocs(serverName, options, context)
    },
  ),

  search_tool_docs: tellingMethod(
    z.object({
      query: z.union([wording, z.array(wording).max(MAX_AT_ONCE)]),
      separate: z.boolean().default(false),
      limit: z.int().min(1).max(100).default(5),
      servers: boundedList(name, MAX_SERVERS).nullish(),
      detail,
    }),
    async ({ query, separate, limit, servers, detail: wanted }, context) => {
      const { catalog, scope, notes, session } = context
      const within =
        servers?.map((server) => allowedServer(server, catalog, scope)) ?? scope.servers.map((server) => server.name)
      const options = { limit, servers: within, detail: wanted }
      const search = (wordings: Wordings) => searchTools(wordings, options, !servers, context)
      const found = await (separate ? Promise.all([query].flat().map(search)) : search(query))
      const news = unsearchedNews(session.told, within, catalog.unsearched(within), Boolean(servers))
      for (const { name: server, reason } of news) context.flow?.returned({ server, name: 'start' }, reason)
      const note = unsearchedNote(news, servers ? [] : scope.unloaded)
      if (note) notes.add(note)
      return found
    },
  ),

  describe_server: method(z.object({ server: name }), async ({ server }, context) => {
    const { catalog, upstreams, scope, signal } = context
    const serverName = allowedServer(server, catalog, scope)
    const tools = await withUser(serverName, context, signal, () => catalog.shownTools(serverName, signal))
    const entry = catalog.servers().find((other) => other.name === serverName)
    const instructions = upstreams.of(serverName).instructions
    const transport = upstreams.definitions.find((definition) => definition.name === serverName)?.transport
    return {
      name: serverName,
      alias: entry?.alias,
      description: entry?.description ?? '',
      // As configured: placeholders, which may stand for a secret, are filled in only when the server starts.
      cwd: transport?.type === 'stdio' ? (transport.cwd ?? null) : null,
      ...(instructions && { instructions }),
      tools: tools.map((tool) => ({
        name: tool.name,
        alias: tool.alias,
        description: tool.description,
        input_schema: tool.inputSchema,
      })),
    }
  }),

  capability_summary: tellingMethod(
    z.object({}),
    async (_, { catalog, scope, state, facts, flow }) => {
      const servers = summarisedServers(catalog, scope)
      flow?.told(servers)
      return capabilitySummary({
        servers,
        savedTools: (await state.saved?.lines(flow)) ?? [],
        facts,
        unloaded: scope.unloaded,
      })
    },
    { doc: 'What there is, in a few lines of text.', returns: 'str' },
  ),

  ...checkMethods,
  ...languageMethods,
  ...sessionMethods,
}

/**
 * Returns the function that answers the calls of one cell.
 * @throws BridgeError PROXY_* for an invalid request, UPSTREAM_* or TOOL_FAILED when the call fails
 */
export function serveCalls(
  context: CellContext,
  ofFeatures: Methods = {},
): (call: { method: string; params: unknown }, cancellation: Cancellation) => unknown {
  return function serveCall(call, cancellation) {
    const methods = Object.hasOwn(ownMethods, call.method) ? ownMethods : ofFeatures
    const handler = Object.hasOwn(methods, call.method) ? methods[call.method] : undefined
    if (!handler) {
      const known = Object.keys({ ...ownMethods, ...ofFeatures }).join(', ')
      const hint = `Methods: ${known}`
      throw new BridgeError('PROXY_METHOD_UNKNOWN', `Unknown method '${call.method}'`, { hint })
    }
    const { flow, permissions } = context
    permissions?.refuseStopped()
    const answer = () => {
      const params = call.params ?? {}
      const reply = handler(params, context, cancellation)
      return flow ? notingErrors(reply, flow, { method: call.method, params }, context.catalog) : reply
    }
    return context.forPerson ? answerPerson(answer) : answer()
  }
}

/** An error of a call can hold text of its server. */
async function notingErrors(
  reply: unknown,
  flow: SessionFlow,
  { method: called, params }: { method: string; params: unknown },
  catalog: Catalog,
): Promise<unknown> {
  try {
    return await reply
  } catch (error) {
    const { server, tool = called } = params as { server?: unknown; tool?: unknown }
    const named = typeof server === 'string' ? catalog.resolveServer(server) : undefined
    const isServers = !BridgeError.isInstance(error) || SERVER_ERROR.test(error.code)
    if (isServers && named !== undefined) flow.returned({ server: named, name: String(tool) }, messageOf(error))
    if (BridgeError.isInstance(error) && error.code === 'PERMISSION_DENIED') flow.told(`${error.message} ${error.hint}`)
    throw error
  }
}

const SERVER_ERROR = /^(UPSTREAM_|TOOL_FAILED)/

/** @throws the error with hints for a person */
async function answerPerson(answer: () => unknown): Promise<unknown> {
  try {
    return await answer()
  } catch (error) {
    throw forPerson(error)
  }
}
