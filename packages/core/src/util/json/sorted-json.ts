// Serialises a value to the same JSON whatever the order of its keys. Pure.

/** @param value plain JSON; keys with undefined values are omitted */
export function sortedJson(value: unknown): string {
  // Hand-written: JSON.stringify with a replacer takes three times as long, and this runs for every recorded call.
  return textOf(value) ?? 'null'
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item) => textOf(item) ?? 'null').join(',')}]`
  let fields = ''
  for (const key of Object.keys(value).toSorted()) {
    const text = textOf((value as Record<string, unknown>)[key])
    if (text !== undefined) fields += `${fields && ','}${JSON.stringify(key)}:${text}`
  }
  return `{${fields}}`
}
