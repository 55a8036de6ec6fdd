// The inputs of a definition: what VS Code asks its user for, `${input:ID}` in our texts. Says which are missing, and does not ask for them. Pure.
import { inputReferences } from './placeholders.ts'
import type { ServerDefinition, ServerInput } from './server-definition.ts'

/** The environment variable that answers an input. */
export function inputVariable(id: string): string {
  return `MCP_INPUT_${id.toUpperCase().replaceAll(/\W/g, '_')}`
}

/** What must be asked for before the server can be started. An input that is described nowhere is taken for a secret. */
export function missingInputs(
  { transport, inputs = [] }: ServerDefinition,
  env: Record<string, string | undefined>,
): ServerInput[] {
  const ids = inputReferences(transport).flatMap(({ name, standard }) => (standard === undefined ? [name] : []))
  const missing = [...new Set(ids)].filter((id) => env[inputVariable(id)] === undefined)
  return missing.map((id) => inputs.find((input) => input.id === id) ?? { id, type: 'promptString', password: true })
}
