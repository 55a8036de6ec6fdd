// The inputs of a definition: what VS Code asks its user for, `${input:ID}` in our texts. Says which there are and which are missing; asks nobody. Pure.
import { isObject } from './config-document.ts'
import type { RemoteServer, ServerDefinition, ServerInput, StdioServer } from './server-definition.ts'

/** The environment variable that answers an input. */
export function inputVariable(id: string): string {
  return `MCP_INPUT_${id.toUpperCase().replaceAll(/\W/g, '_')}`
}

/** Those that a transport refers to, of a list in VS Code's form. What is not in that form is left out: it only says how to ask. */
export function inputsOf(list: unknown, transport: StdioServer | RemoteServer): ServerInput[] {
  if (!Array.isArray(list)) return []
  const ids = new Set(references(transport).map(({ id }) => id))
  return list.flatMap((input: unknown) => {
    const made = toInput(input)
    return made && ids.has(made.id) ? [made] : []
  })
}

function toInput(value: unknown): ServerInput | undefined {
  if (!isObject(value) || typeof value['id'] !== 'string') return undefined
  const { id, type, description, password } = value
  const options = optionsOf(value['options'])
  return {
    id,
    type: type === 'command' ? 'command' : type === 'pickString' && options.length > 0 ? 'pickString' : 'promptString',
    ...(typeof description === 'string' && description.trim() !== '' ? { description } : {}),
    ...(password === true ? { password } : {}),
    ...(type === 'pickString' && options.length > 0 ? { options } : {}),
  }
}

/** Texts, or tables with a label and a value. */
function optionsOf(value: unknown): string[] {
  if (!Array.isArray(value)) return []
  return value
    .map((option: unknown) => (isObject(option) ? option['value'] : option))
    .filter((option) => typeof option === 'string')
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
