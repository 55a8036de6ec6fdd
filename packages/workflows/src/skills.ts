// Workflows as Agent Skills over MCP (SEP-2640, `io.modelcontextprotocol/skills`). A client lists them with the digests
// of their files and reads the files as resources. Each skill here is one file, SKILL.md.
import { ProtocolError, ProtocolErrorCode, type Resource, type Server } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { shortName } from '@sandbridge/core/util/text'
import type { ExposedSkill, ExposedWorkflows } from './exposure.ts'

export const SKILLS_EXTENSION = { 'io.modelcontextprotocol/skills': {} }

const MIME_TYPE = 'text/markdown'

/** Saving a workflow again changes its skill, and no client is notified. */
const UNCACHED = { ttlMs: 0, cacheScope: 'private' } as const

/** Answers `skills/list` and `skills/get`. */
export function serveSkills(server: Server, exposed: () => Promise<ExposedWorkflows>): void {
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
export function skillResource({ uri, frontmatter, size }: ExposedSkill): Resource {
  return { uri, ...frontmatter, mimeType: MIME_TYPE, size }
}

export function skillContents({ uri, text }: ExposedSkill) {
  return { contents: [{ uri, mimeType: MIME_TYPE, text }] }
}

function entryOf({ uri, frontmatter, digest, size }: ExposedSkill) {
  return { uri, frontmatter, resources: [{ uri, digest, size }] }
}
