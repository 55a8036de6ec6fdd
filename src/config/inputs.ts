// The inputs of a definition: what VS Code asks its user for, `${input:ID}` in our texts. Says which there are and which are missing; asks nobody. Pure.
import { entrySchemas } from './entry-schema.ts'
import type { RemoteServer, ServerDefinition, ServerInput, StdioServer } from './server-definition.ts'

/** The environment variable that answers an input. */
export function inputVariable(id: string): string {
  return `MCP_INPUT_${id.toUpperCase().replaceAll(/\W/g, '_')}`
}

/** Those that a transport refers to, of a list in VS Code's form. What is not in that form is left out: it only says how to ask. */
export function inputsOf(list: unknown, transport: StdioServer | RemoteServer): ServerInput[] {
  const ids = new Set(references(transport).map(({ id }) => id))
  const inputs = ids.size > 0 ? entrySchemas().inputs.parse(list) : undefined
  return inputs?.filter((input) => input !== undefined).filter(({ id }) => ids.has(id)) ?? []
}

/** What must be asked for before the server can be started. An input that is described nowhere is taken for a secret. */
export function missingInputs(
  { transport, inputs = [] }: ServerDefinition,
  env: Record<string, string | undefined>,
): ServerInput[] {
  const ids = references(transport).flatMap(({ id, hasDefault }) => (hasDefault ? [] : [id]))
  const missing = [...new Set(ids)].filter((id) => env[inputVariable(id)] === undefined)
  return missing.map((id) => inputs.find((input) => input.id === id) ?? { id, type: 'promptString', password: true })
}

function references(transport: StdioServer | RemoteServer): { id: string; hasDefault: boolean }[] {
  return textsOf(transport).flatMap((text) =>
    [...text.matchAll(/\$\{input:([^{}]*?)(:-[^{}]*)?\}/g)].map(([, id = '', standard]) => ({
      id,
      hasDefault: standard !== undefined,
    })),
  )
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}
