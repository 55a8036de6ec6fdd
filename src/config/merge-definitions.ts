// Many definitions, one name each: the same server found twice is one, and different servers with one name are both kept. Pure.
import { isDeepStrictEqual } from 'node:util'
import type { ServerDefinition } from './server-definition.ts'

/**
 * Definitions in order of precedence, made unique by name. The first keeps its name, the second becomes `name@client`, and a
 * third from the same client `name@client-2`. A definition equal to an earlier one of its configured name is left out.
 */
export function mergeDefinitions(found: readonly ServerDefinition[]): ServerDefinition[] {
  const byConfiguredName = new Map<string, ServerDefinition[]>()
  const taken = new Set<string>()
  const merged: ServerDefinition[] = []
  for (const definition of found) {
    const rivals = byConfiguredName.get(definition.name) ?? []
    if (rivals.some((rival) => isSameServer(rival, definition))) continue
    rivals.push(definition)
    byConfiguredName.set(definition.name, rivals)
    const name = freeName(definition, taken)
    taken.add(name)
    merged.push(name === definition.name ? definition : { ...definition, name })
  }
  return merged
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
