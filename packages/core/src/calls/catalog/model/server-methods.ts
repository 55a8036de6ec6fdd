// Methods of every server (`mcp_docs.resources()`, `read_resource(uri)` …), modelled as tools, so that they have docs
// and checked arguments. A tool of the same name takes precedence; `_resources` always means the method. Pure.
import type { UpstreamTool } from '../../../upstream/upstream.ts'
import { CatalogTool, type ServerMethod } from './catalog-tool.ts'

const listOf = (properties: Record<string, unknown>, required: string[]) => ({
  type: 'object',
  properties: { result: { type: 'array', items: { type: 'object', properties, required } } },
  required: ['result'],
})
const text = { type: 'string' }
const NOTHING = { type: 'object', properties: {}, additionalProperties: false }

const DEFINITIONS: Record<ServerMethod, Omit<UpstreamTool, 'name'>> = {
  resources: {
    description: "The server's resources and resource templates",
    inputSchema: NOTHING,
    outputSchema: listOf({ uri: text, uriTemplate: text, name: text, description: text, mimeType: text }, ['name']),
  },
  read_resource: {
    description:
      'Read a resource: text as str, images and audio with .data and .mime_type, else bytes; several as a list',
    inputSchema: {
      type: 'object',
      properties: { uri: { ...text, description: 'A URI from resources(), or a filled-in template' } },
      required: ['uri'],
      additionalProperties: false,
    },
  },
  prompts: {
    description: "The server's prompts and their arguments",
    inputSchema: NOTHING,
    outputSchema: listOf({ name: text, description: text, arguments: { type: 'array' } }, ['name']),
  },
  get_prompt: {
    description: 'The messages of a prompt, with its arguments filled in',
    inputSchema: {
      type: 'object',
      properties: { name: { ...text, description: 'A name from prompts()' } },
      required: ['name'],
      additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
    },
    outputSchema: listOf({ role: text, content: { type: 'object' } }, ['role', 'content']),
  },
  list_tools: {
    description: "The docs of the server's tools, one line each when printed",
    inputSchema: NOTHING,
    outputSchema: listOf({ name: text, alias: text, description: text }, ['name', 'alias', 'description']),
  },
}

/** The method called `name`, for a server without a tool of that name. */
export function serverMethod(server: string, alias: string, name: string): CatalogTool | undefined {
  const method = name.replace(/^_/, '')
  if (!Object.hasOwn(DEFINITIONS, method)) return undefined
  const definition = { name, ...DEFINITIONS[method as ServerMethod] }
  return new CatalogTool(server, alias, name, definition, method as ServerMethod)
}

/** Splits the arguments of `get_prompt(name, **arguments)`: with a positional name, `name=` is the prompt's. */
export function splitPrompt(
  args: readonly unknown[],
  kwargs: Readonly<Record<string, unknown>>,
): { own: Record<string, unknown>; prompt: Record<string, unknown> } {
  if (args.length > 0) return { own: {}, prompt: { ...kwargs } }
  const { name, ...prompt } = kwargs
  return { own: 'name' in kwargs ? { name } : {}, prompt }
}
