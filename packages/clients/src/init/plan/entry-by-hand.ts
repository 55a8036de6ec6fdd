// What init tells the user to write into a file that it cannot edit.
import type { ConfigFormat, ConfigObject } from '@sandbridge/core/config/formats'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import { BRIDGE_NAME } from './targets.ts'

/** What the user writes into a file that cannot be edited. It has no values of the file. */
export function entryByHand(
  table: readonly string[],
  entry: ConfigObject,
  format: ConfigFormat,
  name = BRIDGE_NAME,
): string {
  // YAML takes JSON, too.
  const written = format === 'toml' ? `${name} = ${inlineToml(entry)}` : `"${name}": ${JSON.stringify(entry)}`
  return table.length > 0 ? `${table.join('.')} needs ${written}` : written
}

/** A value in one line. */
function inlineToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inlineToml).join(', ')}]`
  if (!isRecord(value)) return JSON.stringify(value)
  const pairs = Object.entries(value).map(([key, one]) => `${key} = ${inlineToml(one)}`)
  return `{ ${pairs.join(', ')} }`
}
