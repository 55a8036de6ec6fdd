// Decides which tools of a server its definition allows. Pure.
import { parseOwnTarget, type Target } from '../rules/target.ts'
import { fitsGlob } from '../../util/text/glob.ts'
import type { ServerDefinition } from './server-definition.ts'

/** Before a tool's name: the rule is about the tools of all servers, so that this one need not have it. */
export const OF_ANY_SERVER = 'mcp__*__'

type Filtered = Pick<ServerDefinition, 'name' | 'tools'>

/** Read once for each definition: a server may have thousands of tools. */
const read = new WeakMap<Filtered, Target[]>()

function excludedBy(definition: Filtered): Target[] {
  const known = read.get(definition)
  if (known) return known
  const { name, tools } = definition
  const targets = (tools?.exclude ?? []).map((pattern) => parseOwnTarget(ofAny(pattern) ?? pattern, name, true))
  read.set(definition, targets)
  return targets
}

function ofAny(pattern: string): string | undefined {
  return pattern.startsWith(OF_ANY_SERVER) ? pattern.slice(OF_ANY_SERVER.length) : undefined
}

/** Whether a tool may be called. `*` stands for any text; `exclude` wins, and reads names as a denying rule does. */
export function allowsTool(definition: Filtered, tool: string): boolean {
  if (excludedBy(definition).some((target) => target.matches(definition.name, tool))) return false
  return definition.tools?.include?.some((pattern) => fitsGlob(pattern, tool)) ?? true
}

/** The names in the definition that no listed tool has: what was meant to be left out may be offered. */
export function unmatchedNames(definition: Filtered, listed: readonly string[]): string[] {
  const { name, tools: { include = [], exclude = [] } = {} } = definition
  const targets = excludedBy(definition)
  return [
    ...exclude.filter((pattern, index) => {
      return ofAny(pattern) === undefined && !listed.some((tool) => targets[index]!.matches(name, tool))
    }),
    ...include.filter((pattern) => !listed.some((tool) => fitsGlob(pattern, tool))),
  ]
}
