// What the tools of a server are pinned to: their form when first listed. A tool described differently later may do
// something else: it counts as changed until the user accepts it. What a server first lists for clients that can be
// asked more is pinned too. Pure.
import { hash } from 'node:crypto'
import { sortedJson } from '../../../util/json/json.ts'
import type { UpstreamTool } from '../../../upstream/upstream.ts'

/** A tool as first listed. For a very long description only the hash is kept. */
export interface Pin {
  hash: string
  definition?: unknown
}

export type Pins = Record<string, Pin>

const MAX_KEPT_CHARS = 100_000

export function pin(pins: Pins, tools: readonly UpstreamTool[]): Pins {
  return { ...pins, ...Object.fromEntries(tools.map((tool) => [tool.name, pinOf(tool)])) }
}

/** The names of tools that differ from what they are pinned to, or are not pinned. */
export function changesIn(pins: Pins, tools: readonly UpstreamTool[]): string[] {
  if (Object.keys(pins).length === 0) return []
  return tools.filter((tool) => !isSame(pinnedIn(pins, tool.name), tool)).map(({ name }) => name)
}

export function pinnedIn(pins: Pins, name: string): Pin | undefined {
  return Object.hasOwn(pins, name) ? pins[name] : undefined
}

/** The fields that a model or a rule depends on. */
export function shown({ name, title, description, inputSchema, outputSchema, annotations }: UpstreamTool): object {
  return { name, title, description, inputSchema, outputSchema, annotations }
}

function isSame(first: Pin | undefined, tool: UpstreamTool): boolean {
  if (first?.hash === pinOf(tool).hash) return true
  return first?.definition !== undefined && orderless(first.definition) === orderless(shown(tool))
}

/** Some servers list keys, and what is a set for them, in another order at each start. */
function orderless(definition: unknown): string {
  return sortedJson(
    JSON.parse(JSON.stringify(definition), (_, value: unknown) => {
      const isSet = Array.isArray(value) && value.every((item) => typeof item === 'string')
      return isSet ? value.toSorted() : value
    }),
  )
}

/** Cached: a list of thousands of tools is pinned and compared at once. */
const pinned = new WeakMap<UpstreamTool, Pin>()

function pinOf(tool: UpstreamTool): Pin {
  const known = pinned.get(tool)
  if (known) return known
  const definition = shown(tool)
  const json = JSON.stringify(definition)
  const made = { hash: hash('sha256', json), ...(json.length <= MAX_KEPT_CHARS && { definition }) }
  pinned.set(tool, made)
  return made
}
