// Lists a server's resources, templates and prompts: all pages, not validated, within limits. A server that does not
// declare them in its `capabilities` is not asked and has none.
import { BridgeError } from '../../errors.ts'
import { isRecord } from '../../util/json/json.ts'
import type { Connection } from '../connection/connection.ts'
import type { LooseResult } from '../connection/sdk.ts'
import { entriesOf, nextCursorOf } from './tool-list.ts'
import type { GottenPrompt, Meta, OnCut, ReadResource, UpstreamPrompt, UpstreamResource } from '../upstream.ts'

/** Limits for a list that never ends. Further entries are dropped, and `onCut` is told. */
const MAX_PAGES = 1_000
const MAX_ENTRIES = 10_000

const METHOD_NOT_FOUND = /\(-32601[,)]/

/** Resources, including a server's skills, and templates. @throws BridgeError */
export async function listResources(
  connection: Connection,
  signal?: AbortSignal,
  onCut?: OnCut,
): Promise<UpstreamResource[]> {
  if (!connection.capabilities.resources) return []
  const resources = await listAll(connection, 'resources/list', 'resources', signal, onCut)
  // Many servers have resources but do not support this method.
  const templates = await listAll(connection, 'resources/templates/list', 'resourceTemplates', signal, onCut).catch(
    (error: unknown) => {
      if (BridgeError.isInstance(error) && error.code === 'TOOL_FAILED' && METHOD_NOT_FOUND.test(error.message))
        return []
      throw error
    },
  )
  const skills = await listSkills(connection, signal, onCut)
  const isSkill = new Set(skills.map(({ uri }) => uri))
  return [
    ...skills,
    ...resources.filter((entry) => isText(entry.uri) && !isSkill.has(entry.uri)),
    ...templates.filter((entry) => isText(entry.uriTemplate)),
  ] as UpstreamResource[]
}

/** Skills as resources: a skill's SKILL.md can be read as one. A failure to list them is ignored. */
async function listSkills(
  connection: Connection,
  signal: AbortSignal | undefined,
  onCut: OnCut | undefined,
): Promise<UpstreamResource[]> {
  const { extensions } = connection.capabilities
  if (!isRecord(extensions?.['io.modelcontextprotocol/skills'])) return []
  const skills = await listAll(connection, 'skills/list', 'skills', signal, onCut).catch((error: unknown) => {
    if (BridgeError.isInstance(error) && error.code === 'CANCELLED') throw error
    return []
  })
  return skills.flatMap(({ uri, frontmatter }) => {
    if (!isText(uri) || !isRecord(frontmatter)) return []
    const { name, description } = frontmatter
    return [{ uri, name, description, mimeType: 'text/markdown', skill: true as const }]
  })
}

/** @throws BridgeError */
export async function listPrompts(
  connection: Connection,
  signal?: AbortSignal,
  onCut?: OnCut,
): Promise<UpstreamPrompt[]> {
  if (!connection.capabilities.prompts) return []
  const prompts = await listAll(connection, 'prompts/list', 'prompts', signal, onCut)
  return prompts.filter((entry) => isText(entry.name)) as unknown as UpstreamPrompt[]
}

/** @throws BridgeError */
export async function readResource(
  connection: Connection,
  uri: string,
  signal?: AbortSignal,
  meta?: Meta,
): Promise<ReadResource> {
  const { server } = connection
  if (!connection.capabilities.resources) throw hasNone(server, 'resources')
  const params = { uri, ...(meta && { _meta: meta }) }
  const result = await connection.ask(`the reading of '${uri.slice(0, 200)}'`, 'resources/read', params, signal)
  const contents = listOf(result.contents ?? result.content, (text) => ({ uri, text }))
  if (contents) return { ...result, contents }
  throw new BridgeError('UPSTREAM_PROTOCOL', `Server '${server}' returned a resource without contents`)
}

/** @throws BridgeError */
export async function getPrompt(
  connection: Connection,
  prompt: { name: string; arguments: Record<string, string> },
  signal?: AbortSignal,
  meta?: Meta,
): Promise<GottenPrompt> {
  const { server } = connection
  if (!connection.capabilities.prompts) throw hasNone(server, 'prompts')
  const what = `the request for the prompt '${prompt.name.slice(0, 200)}'`
  const result = await connection.ask(what, 'prompts/get', { ...prompt, ...(meta && { _meta: meta }) }, signal)
  const messages = listOf(result.messages, (text) => ({ role: 'user', content: { type: 'text', text } }))
  if (messages) return { ...result, messages }
  throw new BridgeError('UPSTREAM_PROTOCOL', `Server '${server}' returned no messages for ${what}`)
}

/** A list, of which some servers write the only item alone, and texts in place of objects. */
function listOf(value: unknown, itemOf: (text: string) => object): unknown[] | undefined {
  if (!Array.isArray(value) && !isRecord(value) && typeof value !== 'string') return undefined
  return [value].flat().map((item: unknown) => (typeof item === 'string' ? itemOf(item) : item))
}

/** Values for an argument of a prompt or a variable of a template; none without that capability. @throws BridgeError */
export async function complete(
  connection: Connection,
  asked: Record<string, unknown>,
  signal?: AbortSignal,
  meta?: Meta,
): Promise<string[]> {
  if (!connection.capabilities.completions) return []
  const params = { ...asked, ...(meta && { _meta: meta }) }
  const { completion } = await connection.list('a completion', 'completion/complete', params, signal)
  const values = isRecord(completion) ? completion['values'] : undefined
  return Array.isArray(values) ? values.filter((value) => isText(value)) : []
}

async function listAll(
  connection: Connection,
  method: string,
  key: string,
  signal: AbortSignal | undefined,
  onCut: OnCut | undefined,
): Promise<LooseResult[]> {
  const found: LooseResult[] = []
  const words = key.replace(/[A-Z]/, (letter) => ` ${letter.toLowerCase()}`)
  const cursors = new Set<string>()
  for (let cursor: string | undefined; ;) {
    const params = cursor === undefined ? {} : { cursor }
    const result = await connection.list(`the listing of its ${words}`, method, params, signal)
    const entries = key in result ? entriesOf(result, key, method, connection.server) : []
    for (const entry of entries)
      if (typeof entry === 'object' && entry !== null) found.push(connection.cleaned(entry as LooseResult))
    const next = nextCursorOf(result, connection.era)
    const hasMore = next !== undefined && !cursors.has(next)
    if (found.length > MAX_ENTRIES || (hasMore && (found.length === MAX_ENTRIES || cursors.size + 1 >= MAX_PAGES))) {
      found.splice(MAX_ENTRIES)
      onCut?.(words)
      return found
    }
    if (!hasMore) return found
    cursors.add(next)
    cursor = next
  }
}

function hasNone(server: string, what: string): BridgeError {
  return new BridgeError('PROXY_TOOL_UNKNOWN', `Server '${server}' has no ${what}`)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
