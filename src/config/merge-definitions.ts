// Many definitions, one name each: the same server found twice is one, and different servers with one name are both kept. Pure.
import { isDeepStrictEqual } from 'node:util'
import type { FoundServer, ServerDefinition } from './server-definition.ts'

/** Those that are no doubles, under the names they have in this bridge. */
export function withoutDoubles(found: readonly FoundServer[]): ServerDefinition[] {
  return found
    .filter(({ isDouble }) => !isDouble)
    .map(({ definition, name }) => (name === definition.name ? definition : { ...definition, name }))
}

/**
 * Definitions in order of precedence, made unique by name. The first keeps its name, the second becomes `name@client`, and a
 * third from the same client `name@client-2`. A definition equal to an earlier one of its configured name is its double.
 */
export function placeDefinitions(found: readonly ServerDefinition[]): FoundServer[] {
  const byConfiguredName = new Map<string, FoundServer[]>()
  const taken = new Set<string>()
  return found.map((definition) => {
    const rivals = byConfiguredName.get(definition.name) ?? []
    const same = rivals.find((rival) => isSameServer(rival.definition, definition))
    if (same) return { definition, name: same.name, isDouble: true }
    const name = freeName(definition, taken)
    taken.add(name)
    const placed = { definition, name, isDouble: false }
    byConfiguredName.set(definition.name, [...rivals, placed])
    return placed
  })
}

/** Nothing that matters for using the server has changed; where it is defined does not. */
export function isSameDefinition(a: ServerDefinition, b: ServerDefinition): boolean {
  return isDeepStrictEqual({ ...a, source: undefined }, { ...b, source: undefined })
}

/** Clients sign in to one server each in their own way: that makes it no other server. */
function isSameServer(a: ServerDefinition, b: ServerDefinition): boolean {
  return isDeepStrictEqual(withoutSignIn(a), withoutSignIn(b)) && isDeepStrictEqual(a.tools, b.tools)
}

function withoutSignIn({ transport }: ServerDefinition): unknown {
  return { ...transport, signIn: undefined }
}

function freeName({ name, source }: ServerDefinition, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name
  const base = `${name}@${source.client}`
  let candidate = base
  for (let count = 2; taken.has(candidate); count++) candidate = `${base}-${count}`
  return candidate
}
