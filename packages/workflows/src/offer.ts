// Offers the workflows that MCP_BRIDGE_EXPOSE names to a client: as tools, prompts and Agent Skills.
import { ProtocolError, ProtocolErrorCode, type Resource, type Server } from '@modelcontextprotocol/server'
import { settingsOf } from '@sandbridge/core/config/settings'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Offer, OfferParts } from '@sandbridge/core/serve/mcp'
import { shortName } from '@sandbridge/core/util/text'
import type { ExposedSkill, ExposedWorkflows } from './exposure.ts'
import { WORKFLOW_SETTINGS } from './settings.ts'
import * as z from 'zod'

export function offerWorkflows(parts: OfferParts): Offer | undefined {
  const { expose } = settingsOf(parts.settings, WORKFLOW_SETTINGS)
  if (expose.length === 0) return undefined
  const exposed = exposedWorkflows(expose, parts)
  return {
    capabilities: { prompts: {}, extensions: SKILLS_EXTENSION },
    answer(server) {
      serveSkills(server, exposed)
      server.setRequestHandler('prompts/list', async () => ({ prompts: await (await exposed()).prompts() }))
      server.setRequestHandler('prompts/get', async ({ params: { name, arguments: args = {} } }) => {
        const text = await (await exposed()).prompt(name, args)
        if (text !== undefined) return { messages: [{ role: 'user', content: { type: 'text', text } }] }
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt '${shortName(name)}'`)
      })
    },
    tools: async () => (await exposed()).tools(),
    has: (tool) => expose.includes(tool),
    async callOf(tool, args) {
      const cell = await (await exposed()).cell(tool, args)
      if (cell) return cell
      throw new BridgeError('STATE_NOT_FOUND', `There is no workflow '${tool}'`, {
        hint: 'Keep one with runtime.save_workflow(name, func).',
      })
    },
    resources: async () => (await (await exposed()).skills()).map(skillResource),
    async read(uri) {
      const skill = uri.startsWith('skill://') ? await (await exposed()).skill(uri) : undefined
      return skill && skillContents(skill)
    },
  }
}

/** Loads them at the first use. */
function exposedWorkflows(
  expose: readonly string[],
  { settings, user, getConversation }: OfferParts,
): () => Promise<ExposedWorkflows> {
  let loading: Promise<ExposedWorkflows> | undefined
  const load = async (): Promise<ExposedWorkflows> => {
    const [{ ExposedWorkflows: Exposed }, { SavedToolStore }, { openStores }] = await Promise.all([
      import('./exposure.ts'),
      import('@sandbridge/memories/saved/saved-tool-store.ts'),
      import('@sandbridge/core/util/stores/open-stores.ts'),
    ])
    // Only a tool that is offered waits for the bridge, which masks its texts.
    const stores = settings.storage === undefined ? await openStores(settings) : (await getConversation()).bridge.stores
    return new Exposed(expose, new SavedToolStore(stores.of(user)), async () => {
      const [{ bridge, sessions }, { maskerFor }] = await Promise.all([
        getConversation(),
        import('@sandbridge/core/serve/mcp'),
      ])
      return maskerFor(bridge, sessions)
    })
  }
  return () => (loading ??= load())
}

// Workflows as Agent Skills over MCP (SEP-2640, `io.modelcontextprotocol/skills`). A client lists them with the digests
// of their files and reads the files as resources. Each skill here is one file, SKILL.md.

const SKILLS_EXTENSION = { 'io.modelcontextprotocol/skills': {} }

const MIME_TYPE = 'text/markdown'

/** Saving a workflow again changes its skill, and no client is notified. */
const UNCACHED = { ttlMs: 0, cacheScope: 'private' } as const

/** Answers `skills/list` and `skills/get`. */
function serveSkills(server: Server, exposed: () => Promise<ExposedWorkflows>): void {
  server.setRequestHandler('skills/list', { params: z.looseObject({}) }, async () => ({
    skills: (await (await exposed()).skills()).map(entryOf),
    ...UNCACHED,
  }))
  server.setRequestHandler('skills/get', { params: z.looseObject({ uri: z.string() }) }, async ({ uri }) => {
    const skill = await (await exposed()).skill(uri)
    if (skill) return { skill: entryOf(skill), ...UNCACHED }
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no skill '${shortName(uri)}'`, { uri })
  })
}

/** For clients without the extension: the SKILL.md as an ordinary resource. */
function skillResource({ uri, frontmatter, size }: ExposedSkill): Resource {
  return { uri, ...frontmatter, mimeType: MIME_TYPE, size }
}

function skillContents({ uri, text }: ExposedSkill) {
  return { contents: [{ uri, mimeType: MIME_TYPE, text }] }
}

function entryOf({ uri, frontmatter, digest, size }: ExposedSkill) {
  return { uri, frontmatter, resources: [{ uri, digest, size }] }
}
