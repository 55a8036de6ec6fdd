// JSON that is the same for the same value, in whatever order its keys were written. Pure.

/** @param value plain JSON: strings, numbers, booleans, null, lists and objects of these; keys without a value are left out */
export function sortedJson(value: unknown): string {
  // Written by hand: JSON.stringify with a replacer takes three times as long, and every call that is recorded is written so.
  return textOf(value) ?? 'null'
}

function textOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item) => textOf(item) ?? 'null').join(',')}]`
  let fields = ''
  for (const key of Object.keys(value).toSorted()) {
    const text = textOf((value as Record<string, unknown>)[key])
    if (text !== undefined) fields += `${fields && ','}${JSON.stringify(key)}:${text}`
  }
  return `{${fields}}`
}
