// Parses a config file of any format to plain values, and has the helpers with which readers look at them. Pure.
import { isRecord, parseJson } from '../../util/json/json.ts'
import { lineCost } from '../../util/json/line-cost.ts'
import type { Parsed } from './jsonc.ts'

export type ConfigFormat = 'jsonc' | 'toml' | 'yaml'

/** A value from a config file of which only the type object is known. */
export type ConfigObject = Record<string, unknown>

/** Parses a text, or returns the reason why it is invalid. Blank text is an empty object. */
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

// Loaded on first use, each through a file of ours: in a bundle, import() of CommonJS has no named exports.
const parsers: Record<ConfigFormat, (text: string) => Promise<Parsed>> = {
  async jsonc(text) {
    // Parsers take seconds for these.
    const { tooCostly } = lineCost(Buffer.from(text))
    if (tooCostly?.includes('nested')) return { reason: 'is nested too deeply' }
    if (tooCostly !== undefined) return { reason: `has ${tooCostly}` }
    const value = INEXACT.test(text) ? undefined : parseJson(text)
    return value === undefined ? (await import('./jsonc.ts')).parseJsonc(text) : { value }
  },
  toml: async (text) => (await import('./toml.ts')).parseToml(text),
  yaml: async (text) => (await import('./yaml.ts')).parseYaml(text),
}

/** Numbers that are written in another way than JavaScript writes them. */
const INEXACT = /[:,[]\s*-?(?:\d{16}|\d+(?:\.\d*0\b|(?:\.\d+)?[eE]))/

function placeOf(text: string, offset: number | undefined): string {
  if (offset === undefined) return ''
  const before = text.slice(0, offset)
  return ` at line ${before.split('\n').length}, column ${offset - before.lastIndexOf('\n')}`
}
