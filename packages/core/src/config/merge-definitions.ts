// Gives each definition a unique name: duplicates are merged, different servers with one name both kept. Pure.
import { isDeepStrictEqual } from 'node:util'
import { foldName, serverAlias } from '../util/text/python-name.ts'
import type { FoundServer, ServerDefinition } from './entries/server-definition.ts'

/** How far a server is trusted: 0 the user's own, 1 trusted projects', 2 others. Names are assigned in this order. */
export function trustRank({ isProjects, trusted }: Pick<ServerDefinition, 'isProjects' | 'trusted'>): 0 | 1 | 2 {
  if (trusted === false) return 2
  return isProjects ? 1 : 0
}

/** The definitions without duplicates, under their names in this bridge. */
export function withoutDoubles(found: readonly FoundServer[]): ServerDefinition[] {
  return found
    .filter(({ isDouble }) => !isDouble)
    .map(({ definition, name }) => {
      if (name === definition.name) return definition
      return { ...definition, name, otherNames: [definition.name, ...(definition.otherNames ?? [])] }
    })
}

/**
 * Assigns unique names to definitions in order of precedence. The first keeps its name, the second becomes
 * `name@client`, and a third from the same client `name@client-2`. A definition equal to an earlier one with the same
 * configured name is a duplicate. A name is also taken when it only resembles a more trusted server's, in Python or to
 * a person: `github` beside the user's `GitHub`.
 */
export function placeDefinitions(found: readonly ServerDefinition[]): FoundServer[] {
  const byConfiguredName = new Map<string, FoundServer[]>()
  const taken = new TakenNames()
  return found.map((definition) => {
    const rivals = byConfiguredName.get(definition.name) ?? []
    const same = rivals.find((rival) => isSameServer(rival.definition, definition))
    if (same) return { definition, name: same.name, isDouble: true }
    const name = freeName(definition, taken)
    taken.add(name, trustRank(definition))
    const placed = { definition, name, isDouble: false }
    byConfiguredName.set(definition.name, [...rivals, placed])
    return placed
  })
}

/** Whether everything that affects using the server is the same; the file that defines it does not matter. */
export function isSameDefinition(a: ServerDefinition, b: ServerDefinition): boolean {
  return isDeepStrictEqual({ ...a, source: undefined }, { ...b, source: undefined })
}

/** Clients may sign in to the same server in different ways; it is still the same server. */
function isSameServer(a: ServerDefinition, b: ServerDefinition): boolean {
  return isDeepStrictEqual(withoutSignIn(a), withoutSignIn(b)) && isDeepStrictEqual(a.tools, b.tools)
}

function withoutSignIn({ transport }: ServerDefinition): unknown {
  return { ...transport, signIn: undefined }
}

function freeName(definition: ServerDefinition, taken: TakenNames): string {
  const { name, source } = definition
  const rank = trustRank(definition)
  if (!taken.has(name, rank)) return name
  const base = `${name}@${source.client}`
  let candidate = base
  for (let count = 2; taken.has(candidate, rank); count++) candidate = `${base}-${count}`
  return candidate
}

class TakenNames {
  readonly #names = new Set<string>()
  /** Folded names, and the rank of the most trusted server with each. */
  readonly #ranks = new Map<string, number>()

  add(name: string, rank: number): void {
    this.#names.add(name)
    for (const form of formsOf(name)) this.#ranks.set(form, Math.min(rank, this.#ranks.get(form) ?? rank))
  }

  has(name: string, rank: number): boolean {
    return this.#names.has(name) || formsOf(name).some((form) => (this.#ranks.get(form) ?? rank) < rank)
  }
}

/** The name as Python writes it, and as a person or `resolveServer` reads it. */
function formsOf(name: string): string[] {
  return [`alias ${serverAlias(name, 'server')}`, `name ${foldName(name)}`]
}
