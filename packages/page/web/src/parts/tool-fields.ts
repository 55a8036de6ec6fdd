// A tool's JSON Schema as form fields, and the input as arguments; others are typed as JSON. Pure.

export interface Field {
  name: string
  kind: 'text' | 'number' | 'choice' | 'JSON'
  choices: string[] | undefined
  /** The value of each choice. */
  values: readonly unknown[]
  isRequired: boolean
  description: string
}

interface Schema {
  type?: unknown
  enum?: unknown
  description?: unknown
}

export function fieldsOf(schema: unknown): Field[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, Schema>
    required?: unknown
  }
  const needed = new Set(Array.isArray(required) ? required : [])
  return Object.entries(properties ?? {})
    .map(([name, one]) => fieldOf(name, one ?? {}, needed.has(name)))
    .toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired))
}

/** @returns the arguments that are filled in, and the first problem */
export function argumentsOf(
  fields: readonly Field[],
  texts: Readonly<Record<string, string>>,
): { args: Record<string, unknown>; wrong: string | undefined } {
  const args: Record<string, unknown> = {}
  let wrong: string | undefined
  for (const field of fields) {
    const text = texts[field.name] ?? ''
    if (text === '') {
      if (field.isRequired) wrong ??= `${field.name} is missing`
      continue
    }
    try {
      args[field.name] = valueOf(field, text)
    } catch {
      wrong ??= `${field.name} is not ${field.kind === 'number' ? 'a number' : 'valid JSON'}`
    }
  }
  return { args, wrong }
}

function fieldOf(name: string, schema: Schema, isRequired: boolean): Field {
  const description = typeof schema.description === 'string' ? schema.description : ''
  const about = { name, isRequired, description }
  const values: readonly unknown[] | undefined =
    schema.type === 'boolean' ? [true, false] : Array.isArray(schema.enum) ? schema.enum : undefined
  if (values) {
    const choices = values.map((value) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')))
    return { ...about, kind: 'choice', choices, values }
  }
  const kind =
    schema.type === 'string' ? 'text' : schema.type === 'number' || schema.type === 'integer' ? 'number' : 'JSON'
  return { ...about, kind, choices: undefined, values: [] }
}

function valueOf({ kind, choices, values }: Field, text: string): unknown {
  if (kind === 'text') return text
  if (kind === 'choice') return values[choices!.indexOf(text)]
  const value: unknown = JSON.parse(text)
  if (kind === 'number' && typeof value !== 'number') throw new TypeError()
  return value
}
