// The inputs of a definition, which VS Code asks its user for: `${input:ID}`. Finds missing ones. Pure.
import { inputReferences } from './placeholders.ts'
import type { ServerDefinition, ServerInput } from './server-definition.ts'

export function inputVariable(id: string): string {
  return `MCP_INPUT_${id.toUpperCase().replaceAll(/\W/g, '_')}`
}

/** The inputs that must be asked for before the server can start. An input without a description counts as a secret. */
export function missingInputs(
  { transport, inputs = [] }: ServerDefinition,
  env: Record<string, string | undefined>,
): ServerInput[] {
  const ids = inputReferences(transport).flatMap(({ name, standard }) => (standard === undefined ? [name] : []))
  const missing = [...new Set(ids)].filter((id) => env[inputVariable(id)] === undefined)
  return missing.map((id) => inputs.find((input) => input.id === id) ?? { id, type: 'promptString', password: true })
}
