// What could stand in a text that a cell is passing to `get_prompt` or `read_resource`: names and URIs that the server
// lists, and values that it completes itself. What is written so far is sent to the server, as a call would send it, so
// the rules for such a call decide first.
import * as z from 'zod'
import { isPlainlySeen } from '@sandbridge/core/util/text'
import { type CatalogTool, serverMethod } from '@sandbridge/core/calls/catalog'
import { type CallContext, listedPrompts, listedResources, tellingMethod } from '@sandbridge/core/calls/methods'
import type { Admitted } from '@sandbridge/core/parts'
import { allowedServer, observed, withUser } from '@sandbridge/core/calls'
import { boundedRecord } from '@sandbridge/core/util/json'

/** A text that is being written. */
export interface OpenArgument {
  /** `get_prompt` or `read_resource`, perhaps with a leading `_`. */
  tool: string
  /** The prompt, once its name is written. */
  prompt?: string | undefined
  /** The prompt's argument, or `name` or `uri`. */
  argument: string
  value: string
  /** The prompt's other arguments, as far as they are texts. */
  given: Record<string, string>
}

const MAX_VALUES = 100
const MAX_CHARS = 1_000

/** @throws BridgeError as the call itself would */
export async function completedArgument(server: string, open: OpenArgument, context: CallContext): Promise<string[]> {
  const { catalog, signal, permissions } = context
  await permissions?.ready(server, { signal })
  const tool = catalog.knownTool(server, open.tool) ?? (await catalog.findTool(server, open.tool, signal))
  permissions?.refuseDenied(tool)
  const found =
    tool.method === 'read_resource'
      ? await uris(tool, open.value, context)
      : tool.method === 'get_prompt'
        ? await promptTexts(tool, open, context)
        : []
  return [...new Set(found)].filter((text) => text.length <= MAX_CHARS && isPlainlySeen(text)).slice(0, MAX_VALUES)
}

async function promptTexts(tool: CatalogTool, { prompt, argument, value, given }: OpenArgument, context: CallContext) {
  if (prompt !== undefined) {
    const ref = { type: 'ref/prompt', name: prompt }
    const admitted = { name: prompt, arguments: { ...given, [argument]: value } }
    return completed(
      tool,
      admitted,
      { ref, argument: { name: argument, value }, context: { arguments: given } },
      context,
    )
  }
  if (argument !== 'name') return []
  const prompts = await listed(tool, 'prompts', listedPrompts, context)
  return prompts.map(({ name }) => name).filter((name) => name.startsWith(value))
}

async function uris(tool: CatalogTool, value: string, context: CallContext): Promise<string[]> {
  const resources = await listed(tool, 'resources', listedResources, context)
  const found = resources.flatMap(({ uri }) => (uri?.startsWith(value) ? [uri] : []))
  for (const { uriTemplate } of resources) {
    const open = uriTemplate === undefined ? undefined : openVariable(uriTemplate, value)
    if (open === undefined) continue
    if (open.name === undefined) found.push(open.before)
    else {
      const ref = { type: 'ref/resource', uri: uriTemplate }
      const argument = { name: open.name, value: open.value }
      const asked = { ref, argument, context: { arguments: open.given } }
      const values = await completed(tool, { uri: value }, asked, context)
      found.push(...values.map((one) => open.before + one))
    }
  }
  return found
}

/** Lists as the method of that name does: the rules decide first, and what comes back is the server's. */
async function listed<T>(
  { server, serverAlias }: CatalogTool,
  name: 'resources' | 'prompts',
  list: (server: string, admitted: Pick<Admitted, 'args'>, context: CallContext) => Promise<T>,
  context: CallContext,
): Promise<T> {
  const { permissions, signal, flow } = context
  const method = serverMethod(server, serverAlias, `_${name}`)!
  const found = await list(server, (await permissions?.admit(method, {}, { signal })) ?? { args: {} }, context)
  flow?.returned({ server, name }, found)
  return found
}

/** Asks the server. */
async function completed(
  tool: CatalogTool,
  args: Record<string, unknown>,
  asked: Record<string, unknown> & { ref: { name?: string; uri?: string | undefined } },
  context: CallContext,
): Promise<string[]> {
  const { upstreams, signal, permissions, flow } = context
  const { server } = tool
  const admitted = permissions ? await permissions.admit(tool, args, { signal }) : { args }
  const name = asked.ref.name ?? asked.ref.uri ?? ''
  const call = { kind: 'completion', server, name, ...admitted } as const
  const values = await observed(context, call, ({ meta }) => upstreams.complete(server, asked, signal, meta))
  flow?.returned({ server, name: tool.name }, values)
  return values
}

/**
 * The variable of a URI template in which a URI that is being written ends; without a name where the template has
 * literal text next. Only simple variables are understood, such as `{id}`.
 */
function openVariable(
  template: string,
  written: string,
): { before: string; name?: string; value: string; given: Record<string, string> } | undefined {
  const given: Record<string, string> = {}
  let at = 0
  for (const [, literal = '', name] of template.matchAll(/([^{}]*)(?:\{(\w+)\})?/g)) {
    const rest = written.slice(at)
    if (rest.length < literal.length) {
      return literal.startsWith(rest) ? { before: written.slice(0, at) + literal, value: '', given } : undefined
    }
    if (!rest.startsWith(literal)) return undefined
    at += literal.length
    if (name === undefined) return undefined
    const value = /^[^/?#&]*/.exec(written.slice(at))![0]
    if (at + value.length === written.length) return { before: written.slice(0, at), name, value, given }
    given[name] = value
    at += value.length
  }
  return undefined
}

const name = z.string().min(1).max(1_000)
const MAX_GIVEN = 50

export const completionMethods = {
  complete_argument: tellingMethod(
    z.object({
      server: name,
      tool: name,
      prompt: name.nullish(),
      argument: name,
      value: z.string().max(MAX_CHARS),
      given: boundedRecord(z.string().max(MAX_CHARS), MAX_GIVEN, 'arguments').default({}),
    }),
    ({ server, prompt, ...open }, context) => {
      const { catalog, scope, signal } = context
      const serverName = allowedServer(server, catalog, scope)
      const asked = { ...open, ...(prompt && { prompt }) }
      return withUser(serverName, context, signal, () => completedArgument(serverName, asked, context))
    },
  ),
}
