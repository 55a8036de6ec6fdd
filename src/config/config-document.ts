// From the text of a config file to plain values, whatever its format, and the few ways in which readers look at such values. Pure.
import { isRecord, parseJson } from '../text/json.ts'

/**
 * What a parser makes of a text. Its own message can quote the file, and the file holds secrets: only the kind of error and its place go into
 * a reason.
 */
export type Parsed = { value: unknown } | { reason: string; offset?: number }

export type ConfigFormat = 'jsonc' | 'toml' | 'yaml'

/** A value from a config file about which nothing is known but that it is an object. */
export type ConfigObject = Record<string, unknown>

/** The values of a text, or the reason why it has none. Blank text is an empty object. */
export async function parseDocument(
  text: string,
  format: ConfigFormat,
): Promise<{ document: ConfigObject } | { reason: string }> {
  if (text.trim() === '') return { document: {} }
  const parsed = await parsers[format](text)
  if ('reason' in parsed) return { reason: parsed.reason + placeOf(text, parsed.offset) }
  return isRecord(parsed.value)
    ? { document: parsed.value }
    : { reason: 'holds a list or a single value, not an object' }
}

// Parsers are loaded on first need, each through a file of ours: a bundle has no named exports for an import() of CommonJS.
const parsers: Record<ConfigFormat, (text: string) => Promise<Parsed>> = {
  async jsonc(text) {
    const value = parseJson(text)
    return value === undefined ? (await import('./formats/jsonc.ts')).parseJsonc(text) : { value }
  },
  toml: async (text) => (await import('./formats/toml.ts')).parseToml(text),
  yaml: async (text) => (await import('./formats/yaml.ts')).parseYaml(text),
}

function placeOf(text: string, offset: number | undefined): string {
  if (offset === undefined) return ''
  const before = text.slice(0, offset)
  return ` at line ${before.split('\n').length}, column ${offset - before.lastIndexOf('\n')}`
}

/** A value by a path of keys; undefined as soon as one is missing. Only own keys count. */
export function valueAt(value: unknown, ...keys: string[]): unknown {
  let at = value
  for (const key of keys) {
    if (!isRecord(at) || !Object.hasOwn(at, key)) return undefined
    at = at[key]
  }
  return at
}
