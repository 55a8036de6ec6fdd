// Decides which tools of a server its definition allows. Pure.
import { fitsGlob } from '../../util/text/glob.ts'
import type { ServerDefinition } from './server-definition.ts'

/**
 * Whether a tool may be seen and called. `*` in a listed name stands for any text; `exclude` takes precedence over
 * `include`.
 */
export function allowsTool({ tools }: Pick<ServerDefinition, 'tools'>, tool: string): boolean {
  if (tools?.exclude?.some((pattern) => fitsGlob(pattern, tool))) return false
  return tools?.include?.some((pattern) => fitsGlob(pattern, tool)) ?? true
}
