// Serves the calls of cells: everything the sandbox can ask for is checked and decided here, and nowhere else. One entry a method of docs/protocol.md.
import * as z from 'zod'
import type { Catalog } from '../catalog/catalog.ts'
import { BridgeError } from '../errors.ts'
import { artifactMethods } from './methods/artifact-methods.ts'
import type { CallOptions } from '../upstream/upstream.ts'
import { capabilitySummary } from './capability-summary.ts'
import { checkMethods } from './methods/check-calls.ts'
import { type CallContext, method } from './methods/method.ts'
import { callServerMethod } from './methods/resource-methods.ts'
import { savedToolLines, savedToolMethods, searchTools } from './methods/saved-tool-methods.ts'
import type { Scope } from './scope.ts'
import { unsearchedNote } from './unsearched-note.ts'
import { sessionMethods } from './methods/session-methods.ts'
import { resultForSandbox } from './tool-result.ts'
import { withUser } from './user/with-user.ts'

const detail = z.enum(['summary', 'full']).default('summary')
const name = z.string().min(1).max(1_000)

const methods = {
  call_tool: method(
    z.object({
      server: name,
      tool: name,
      args: z.array(z.unknown()).default([]),
      kwargs: z.record(z.string(), z.unknown()).default({}),
      raw: z.boolean().default(false),
    }),
    ({ server, tool, args, kwargs, raw }, context) => {
      const { catalog, upstreams, scope, signal, onUpstreamProgress } = context
      const serverName = allowedServer(server, catalog, scope)
      return withUser(serverName, context, async () => {
        const found = await catalog.findTool(serverName, tool, signal)
        if (found.method) return callServerMethod(found, args, kwargs, raw, context)
        const bound = await catalog.bindCall(found, args, kwargs, signal)
        const onProgress: CallOptions['onProgress'] =
          onUpstreamProgress &&
          (({ progress, ...rest }) =>
            onUpstreamProgress({ name: `${serverName}.${found.name}`, done: progress, ...rest }))
        const options = { signal, ...(onProgress && { onProgress }) }
        const result = await upstreams.callTool(serverName, found.name, bound, options)
        catalog.learn(serverName, found.name, result)
        return resultForSandbox(serverName, found.name, result, raw)
      })
    },
  ),

  discovered_servers: method(z.object({}), (_, { catalog, scope }) => [
    ...catalog
      .servers()
      .filter((server) => scope.has(server.name))
      .map(({ name: serverName, alias, description, state }) => ({ name: serverName, alias, description, state })),
    ...scope.unloaded.map(({ name: serverName, alias, description = '' }) => {
      return { name: serverName, alias, description, state: 'not-loaded' }
    }),
  ]),

  list_servers: method(z.object({}), (_, { upstreams, scope }) =>
    scope.servers.map((server) => server.name).filter((serverName) => upstreams.state(serverName) === 'running'),
  ),

  list_tools: method(z.object({ server: name }), ({ server }, context) => {
    const { catalog, scope, signal } = context
    const serverName = allowedServer(server, catalog, scope)
    return withUser(serverName, context, () => catalog.docs(serverName, {}, signal))
  }),

  query_tool_docs: method(
    z.object({ server: name, tool: name.nullish(), detail }),
    ({ server, tool, detail: wanted }, context) => {
      const { catalog, scope, signal } = context
      const serverName = allowedServer(server, catalog, scope)
      const options = { ...(tool && { tool }), detail: wanted }
      return withUser(serverName, context, () => catalog.docs(serverName, options, signal))
    },
  ),

  search_tool_docs: method(
    z.object({
      query: z.string().max(2_000),
      limit: z.int().min(1).max(100).default(5),
      servers: z.array(name).nullish(),
      detail,
    }),
    async ({ query, limit, servers, detail: wanted }, context) => {
      const { catalog, scope, notes } = context
      const within =
        servers?.map((server) => allowedServer(server, catalog, scope)) ?? scope.servers.map((server) => server.name)
      const found = await searchTools(query, { limit, servers: within, withSaved: !servers, detail: wanted }, context)
      const note = unsearchedNote(catalog.unsearched(within), servers ? [] : scope.unloaded)
      if (note) notes.add(note)
      return found
    },
  ),

  describe_server: method(z.object({ server: name }), async ({ server }, context) => {
    const { catalog, upstreams, scope, signal } = context
    const serverName = allowedServer(server, catalog, scope)
    const tools = await withUser(serverName, context, () => catalog.tools(serverName, signal))
    const entry = catalog.servers().find((other) => other.name === serverName)
    const instructions = upstreams.instructions(serverName)
    return {
      name: serverName,
      alias: entry?.alias,
      description: entry?.description ?? '',
      ...(instructions && { instructions }),
      tools: tools.map((tool) => ({
        name: tool.name,
        alias: tool.alias,
        description: tool.description,
        input_schema: tool.inputSchema,
      })),
    }
  }),

  capability_summary: method(z.object({}), async (_, { catalog, scope, loadableTools, facts }) =>
    capabilitySummary(
      catalog.servers().filter((server) => scope.has(server.name)),
      await savedToolLines(loadableTools),
      facts,
      scope.unloaded,
    ),
  ),

  ...artifactMethods,
  ...checkMethods,
  ...savedToolMethods,
  ...sessionMethods,
}

/**
 * Answer one call of a cell.
 * @throws BridgeError PROXY_* for what the cell asked wrongly, UPSTREAM_* or TOOL_FAILED for what became of it
 */
export async function serveCall(call: { method: string; params: unknown }, context: CallContext): Promise<unknown> {
  const handler = Object.hasOwn(methods, call.method) ? methods[call.method as keyof typeof methods] : undefined
  if (!handler) {
    const known = Object.keys(methods).join(', ')
    throw new BridgeError('PROXY_METHOD_UNKNOWN', `There is no method '${call.method}'`, { hint: `Methods: ${known}` })
  }
  return handler(call.params ?? {}, context)
}

function allowedServer(nameOrAlias: string, catalog: Catalog, scope: Scope): string {
  const serverName = catalog.resolveServer(nameOrAlias)
  if (serverName === undefined || !scope.has(serverName)) throw scope.unavailable(nameOrAlias)
  return serverName
}
