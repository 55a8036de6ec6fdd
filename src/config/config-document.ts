// From the text of a config file to plain values: JSON with comments, TOML or YAML. Pure.
// A parser's own message can quote the file, and the file holds secrets: only the kind of error and its place go into a reason.
export type ConfigFormat = 'jsonc' | 'toml' | 'yaml'

/** A value from a config file about which nothing is known but that it is an object. */
export type ConfigObject = Record<string, unknown>

/** The values of a text, or the reason why it has none. Blank text is an empty object. Parsers are loaded on first need. */
export async function parseDocument(
  text: string,
  format: ConfigFormat,
): Promise<{ document: ConfigObject } | { reason: string }> {
  if (text.trim() === '') return { document: {} }
  const parsed = await parsers[format](text).catch((error: unknown) => {
    // Values nested deeper than the stack is high. Anything else is a fault of ours.
    if (error instanceof RangeError) return { reason: 'is nested too deeply' }
    throw error
  })
  if ('reason' in parsed) return parsed
  return isObject(parsed.value)
    ? { document: parsed.value }
    : { reason: 'holds a list or a single value, not an object' }
}

export function isObject(value: unknown): value is ConfigObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value by a path of keys; undefined as soon as one is missing. Only own keys count. */
export function valueAt(value: unknown, ...keys: string[]): unknown {
  let at = value
  for (const key of keys) {
    if (!isObject(at) || !Object.hasOwn(at, key)) return undefined
    at = at[key]
  }
  return at
}

type Parser = (text: string) => Promise<{ value: unknown } | { reason: string }>

const parsers: Record<ConfigFormat, Parser> = {
  async jsonc(text) {
    try {
      return { value: JSON.parse(text) as unknown }
    } catch {
      // Not plain JSON: comments and trailing commas are fine, and anything else gets a place.
    }
    const { parse, printParseErrorCode } = await import('jsonc-parser')
    const errors: import('jsonc-parser').ParseError[] = []
    const value: unknown = parse(text, errors, { allowTrailingComma: true })
    const [first] = errors
    if (first === undefined) return { value }
    return { reason: `is not valid JSON: ${printParseErrorCode(first.error)} ${placeOf(text, first.offset)}` }
  },
  async toml(text) {
    const { parse, TomlError } = await import('smol-toml')
    try {
      return { value: parse(text) }
    } catch (error) {
      if (!(error instanceof TomlError)) throw error
      return { reason: `is not valid TOML, at line ${error.line}, column ${error.column}` }
    }
  },
  async yaml(text) {
    const { parseDocument: parseYaml } = await import('yaml')
    const yaml = parseYaml(text, { logLevel: 'error' })
    const [first] = yaml.errors
    if (first !== undefined) {
      return { reason: `is not valid YAML: ${first.code} ${placeOf(text, first.pos[0])}` }
    }
    try {
      return { value: yaml.toJS() as unknown }
    } catch {
      // Aliases that refer to each other so often that the values would fill the memory.
      return { reason: 'has YAML aliases that cannot be resolved' }
    }
  },
}

function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  return `at line ${line}, column ${offset - before.lastIndexOf('\n')}`
}
