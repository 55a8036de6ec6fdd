// A resource, a resource template or a prompt of a server, as a search result that a line of Python can use. Pure.
import type { UpstreamPrompt, UpstreamResource } from '../../../upstream/upstream.ts'
import { CatalogTool } from './catalog-tool.ts'
import { isRecord } from '../../../util/json/json.ts'
import { pythonString } from '../signature/python-literal.ts'
import { parametersText, type SignatureLimits } from '../signature/signature.ts'
import { firstSentence, oneLine } from '../../../util/text/server-words.ts'

export type OfferingKind = 'resource' | 'resource template' | 'skill' | 'prompt'

/** What a server offers beside tools. A missing list could not be read. */
export interface Offerings {
  resources?: readonly UpstreamResource[] | undefined
  prompts?: readonly UpstreamPrompt[] | undefined
}

/** Limits per server: thousands of files belong in `resources()`, not in a search for tools. */
const MAX_RESOURCES = 300
const MAX_PROMPTS = 100
const MAX_ARGUMENTS = 40
const URI_LIMIT = 1000
const NAME_LIMIT = 200
const TEXT_LIMIT = 1000
const COMMENT_LIMIT = 72

export class CatalogOffering extends CatalogTool {
  readonly kind: OfferingKind
  /** The URI, the URI template, or the name of the prompt. */
  readonly target: string
  readonly #said: string

  constructor(server: string, serverAlias: string, kind: OfferingKind, entry: UpstreamResource & UpstreamPrompt) {
    const target = (kind === 'prompt' ? entry.name : (entry.uri ?? entry.uriTemplate)) ?? ''
    super(server, serverAlias, kind === 'prompt' ? 'get_prompt' : 'read_resource', {
      name: target,
      ...(typeof entry.title === 'string' && { title: entry.title }),
      // Text for the search: the server's description first, then other words to search for.
      description: [entry.description, entry.title, entry.name, `${kind} ${target}`].filter(isText).join('.\n'),
      inputSchema: kind === 'prompt' ? argumentsSchema(entry.arguments) : { type: 'object', properties: {} },
    })
    this.kind = kind
    this.target = target
    // A prompt's name is already in its line.
    this.#said = [entry.description, entry.title, kind !== 'prompt' && entry.name].find(isText) ?? ''
  }

  /** The server's text, cleaned, on one line. */
  override get description(): string {
    return oneLine(this.#said, TEXT_LIMIT)
  }

  /** `await mcp_docs.read_resource('file:///a')  # resource: …`. @param method its name if a tool has that one */
  line(limits: SignatureLimits, method = this.alias): string {
    const parameters = this.kind === 'prompt' ? parametersText(this.signature, limits).replace(/^\*, /, '') : ''
    const call = `${pythonString(this.target)}${parameters === '' ? '' : `, ${parameters}`}`
    const said = firstSentence(this.#said, COMMENT_LIMIT)
    return `await mcp_${this.serverAlias}.${method}(${call})  # ${this.kind}${said === '' ? '' : `: ${said}`}`
  }
}

/** The usable entries of a list, reduced to the needed fields. */
export function keptResources(resources: readonly UpstreamResource[]): UpstreamResource[] {
  const usable = resources.filter(({ uri, uriTemplate }) => fits(uri ?? uriTemplate, URI_LIMIT))
  // A template stands for many resources, and a skill explains how to use the tools.
  const rank = ({ uri, skill }: UpstreamResource): number => (skill === true ? 0 : uri === undefined ? 1 : 2)
  const ordered = usable.toSorted((a, b) => rank(a) - rank(b))
  return ordered.slice(0, MAX_RESOURCES).map(({ uri, uriTemplate, name, title, description, skill }) => ({
    ...(uri === undefined ? { uriTemplate: uriTemplate! } : { uri }),
    ...texts({ name, title, description }),
    ...(skill === true && { skill }),
  }))
}

/** Like `keptResources`. */
export function keptPrompts(prompts: readonly UpstreamPrompt[]): UpstreamPrompt[] {
  return prompts
    .filter(({ name }) => fits(name, NAME_LIMIT))
    .slice(0, MAX_PROMPTS)
    .map(({ name, title, description, arguments: given }) => ({
      ...texts({ title, description }),
      name,
      ...(Array.isArray(given) && { arguments: given.slice(0, MAX_ARGUMENTS).filter(isArgument).map(keptArgument) }),
    }))
}

export function catalogOfferings(server: string, alias: string, { resources, prompts }: Offerings): CatalogOffering[] {
  return [
    ...(resources ?? []).map((entry) => {
      const kind = entry.skill === true ? 'skill' : entry.uri === undefined ? 'resource template' : 'resource'
      return new CatalogOffering(server, alias, kind, entry as UpstreamResource & UpstreamPrompt)
    }),
    ...(prompts ?? []).map((entry) => new CatalogOffering(server, alias, 'prompt', entry)),
  ]
}

/** Converts what a cell passes to a prompt to text, because a prompt's arguments are texts. */
export function promptTexts(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const asText = (value: unknown): unknown => {
    if (typeof value === 'object' && value !== null) return JSON.stringify(value)
    return ['number', 'bigint', 'boolean'].includes(typeof value) ? String(value) : value
  }
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, asText(value)]))
}

interface Argument {
  name: string
  description?: unknown
  required?: unknown
}

/** The arguments of a prompt are texts (2025-11-25, Prompts). */
function argumentsSchema(given: unknown): Record<string, unknown> {
  const list = Array.isArray(given) ? given.filter(isArgument) : []
  return {
    type: 'object',
    properties: Object.fromEntries(
      list.map(({ name, description }) => [name, { type: 'string', ...(isText(description) && { description }) }]),
    ),
    required: list.filter(({ required }) => required === true).map(({ name }) => name),
    additionalProperties: false,
  }
}

function keptArgument({ name, description, required }: Argument): Argument {
  return { name, ...texts({ description }), ...(required === true && { required }) }
}

function isArgument(value: unknown): value is Argument {
  return isRecord(value) && fits(value['name'], NAME_LIMIT)
}

function texts(fields: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (isText(value) ? [[key, value.slice(0, TEXT_LIMIT)]] : [])),
  )
}

function fits(value: unknown, limit: number): boolean {
  return isText(value) && value.length <= limit
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}
