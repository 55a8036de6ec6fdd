// Twenty-two made-up servers of common kinds, for measuring the search without recorded tools.
import { readFileSync } from 'node:fs'
import type { UpstreamTool } from '../../../core/src/upstream/upstream.ts'

/** A text is a description, a list of texts an enum, a list with one object an array of such objects. */
type Shape = string | string[] | Shape[] | { [name: string]: Shape }
type Tool = [name: string, description: string, parameters: Record<string, Shape>]

/** The tools of each server, in the form of `tools/list`. */
export function madeUpServers(): Map<string, UpstreamTool[]> {
  const servers = JSON.parse(readFileSync(new URL('made-up-servers.json', import.meta.url), 'utf8')) as Record<
    string,
    Tool[]
  >
  return new Map(
    Object.entries(servers).map(([server, tools]) => [
      server,
      tools.map(([name, description, parameters]) => ({ name, description, inputSchema: schemaOf(parameters) })),
    ]),
  )
}

function schemaOf(shape: Shape): { type: 'object'; [keyword: string]: unknown } {
  if (typeof shape === 'string') return { type: 'string', ...(shape !== '' && { description: shape }) } as never
  if (Array.isArray(shape)) {
    const first = shape[0]
    if (typeof first === 'object') return { type: 'array', items: schemaOf(first) } as never
    return { type: 'string', enum: shape } as never
  }
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(shape).map(([name, inner]) => [name, schemaOf(inner)])),
  }
}
