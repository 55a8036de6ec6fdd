// Methods of every server: resources, prompts, tools. In the form of tool results, for the kernel's same rules.
import { namesOf } from '../catalog/signature/json-schema.ts'
import { bindArguments } from '../catalog/arguments/bind.ts'
import { promptTexts } from '../catalog/model/catalog-offering.ts'
import type { CatalogTool, ServerMethod } from '../catalog/model/catalog-tool.ts'
import { splitPrompt } from '../catalog/model/server-methods.ts'
import { BridgeError } from '../../errors.ts'
import type { OnCut, ToolResult, UpstreamPrompt, UpstreamResource } from '../../upstream/upstream.ts'
import type { Admitted } from '../permissions/gates-part.ts'
import { observed } from '../observed-call.ts'
import { type CallContext, resultsFor } from './method.ts'

/** Of the address of a resource and the name of a prompt: the record, the metrics and the page have them whole. */
const MAX_NAME_CHARS = 8_192

/** Lets the rules decide on a call, and the user where they ask. @throws BridgeError PERMISSION_DENIED or CANCELLED */
export type Admit = (tool: CatalogTool, args: Record<string, unknown>) => Promise<AdmittedCall>

type MethodContext = CallContext & { admit: Admit }

type Serve = (
  method: CatalogTool,
  args: readonly unknown[],
  kwargs: Readonly<Record<string, unknown>>,
  raw: boolean,
  context: MethodContext,
) => Promise<unknown>

const resources: Serve = async (method, args, kwargs, raw, context) => {
  const admitted = await context.admit(method, bindArguments(method, args, kwargs))
  const found = await listedResources(method.server, admitted, context)
  context.catalog.offeringsChanged(method.server, { resources: found })
  if (!raw) return list(found)
  const isTemplate = ({ uri }: { uri?: string }): boolean => uri === undefined
  return { resources: found.filter((entry) => !isTemplate(entry)), resourceTemplates: found.filter(isTemplate) }
}

const readResource: Serve = async (method, args, kwargs, raw, context) => {
  const { upstreams, signal } = context
  const bound = bindArguments(method, args, kwargs)
  refuseLong('uri', bound['uri'])
  const { args: sent, ...admitted } = await context.admit(method, bound)
  const uri = String(sent['uri'])
  const call = { kind: 'resource', server: method.server, name: uri, args: {}, ...admitted } as const
  const result = await observed(context, call, ({ meta }) => upstreams.readResource(method.server, uri, signal, meta))
  if (raw) return result
  return { content: result.contents.map((resource) => ({ type: 'resource', resource })) } satisfies ToolResult
}

const prompts: Serve = async (method, args, kwargs, raw, context) => {
  const admitted = await context.admit(method, bindArguments(method, args, kwargs))
  const found = await listedPrompts(method.server, admitted, context)
  context.catalog.offeringsChanged(method.server, { prompts: found })
  return raw ? { prompts: found } : list(found)
}

const getPrompt: Serve = async (method, args, kwargs, raw, context) => {
  const { upstreams, signal } = context
  const { own, prompt } = splitPrompt(args, kwargs)
  const name = String(bindArguments(method, args, own)['name'])
  refuseLong('name', name)
  const given = await promptArguments(method.server, name, promptTexts(prompt), context)
  const admitted = await context.admit(method, { name, arguments: given })
  const isNamed = namesOf(context.catalog.of(method.server).prompt(name)?.inputSchema)
  const call = { kind: 'prompt', server: method.server, name, isNamed, ...admitted, args: given } as const
  const result = await observed(context, call, ({ meta }) =>
    upstreams.getPrompt(method.server, { name, arguments: given }, signal, meta),
  )
  return raw ? result : list(result.messages)
}

const listTools: Serve = async (method, args, kwargs, raw, context) => {
  const { catalog, signal } = context
  bindArguments(method, args, kwargs)
  if (!raw) return { docs: await catalog.docs(method.server, { resultsOf: resultsFor(context) }, signal) }
  return { tools: (await catalog.shownTools(method.server, signal)).map(({ definition }) => definition) }
}

/**
 * The methods of every server. @param raw return the server's response unchanged
 * @throws BridgeError PROXY_ARGUMENTS_INVALID before anything is sent; UPSTREAM_* or TOOL_FAILED when the request fails
 */
export const SERVER_METHODS: Record<ServerMethod, Serve> = {
  resources,
  read_resource: readResource,
  prompts,
  get_prompt: getPrompt,
  list_tools: listTools,
}

type AdmittedCall = Pick<Admitted, 'args'> & Partial<Admitted>

/** Asks the server for its resources, which counts as a call and is reported as one. */
export function listedResources(
  server: string,
  admitted: AdmittedCall,
  context: CallContext,
): Promise<UpstreamResource[]> {
  const { upstreams, signal, notes } = context
  const call = { kind: 'resources', server, name: 'resources', ...admitted } as const
  return observed(context, call, () => upstreams.listResources(server, signal, notedCut(server, notes)))
}

/** Asks the server for its prompts, which counts as a call and is reported as one. */
export function listedPrompts(server: string, admitted: AdmittedCall, context: CallContext): Promise<UpstreamPrompt[]> {
  const { upstreams, signal, notes } = context
  const call = { kind: 'prompts', server, name: 'prompts', ...admitted } as const
  return observed(context, call, () => upstreams.listPrompts(server, signal, notedCut(server, notes)))
}

function notedCut(server: string, notes: Set<string>): OnCut {
  return (what) => void notes.add(`Server '${server}' has too many ${what}: its list was cut.`)
}

function refuseLong(parameter: string, value: unknown): void {
  const { length } = String(value)
  if (length > MAX_NAME_CHARS)
    throw new BridgeError('PROXY_ARGUMENTS_INVALID', `${parameter} has ${length} characters, at most ${MAX_NAME_CHARS}`)
}

/** Arguments under their true names. A refusal is checked against a new list; an unlisted prompt accepts anything. */
async function promptArguments(
  server: string,
  name: string,
  given: Record<string, unknown>,
  { catalog, upstreams, signal }: CallContext,
): Promise<Record<string, string>> {
  const bind = (): Record<string, unknown> => {
    const prompt = catalog.of(server).prompt(name)
    return prompt === undefined ? given : bindArguments(prompt, [], given)
  }
  let bound: Record<string, unknown>
  try {
    bound = bind()
  } catch (error) {
    if (!BridgeError.isInstance(error)) throw error
    catalog.offeringsChanged(server, { prompts: await upstreams.listPrompts(server, signal) })
    bound = bind()
  }
  const texts = Object.entries(bound).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return Object.fromEntries(texts)
}

function list(entries: unknown[]): ToolResult {
  return { structuredContent: { result: entries } }
}
