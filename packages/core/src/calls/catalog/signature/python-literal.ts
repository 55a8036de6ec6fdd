// Writes JSON values as Python source: the `Literal[…]` of an enum, the default of a parameter. Pure.

/** `value` as a Python expression on one line of printable ASCII; undefined when it would be longer than `limit`. */
export function pythonLiteral(value: unknown, limit: number): string | undefined {
  const text = literal(value, limit)
  return text !== undefined && text.length <= limit ? text : undefined
}

/** A Python string literal. Characters that could hide or break the line are escaped, so the value stays exact. */
export function pythonString(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  let result = quote
  for (const char of text) {
    const code = char.codePointAt(0)!
    if (char === '\\' || char === quote) result += `\\${char}`
    else if (char === '\n') result += '\\n'
    else if (char === '\t') result += '\\t'
    else if (/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(char)) result += char
    else if (code < 0x100) result += `\\x${code.toString(16).padStart(2, '0')}`
    else if (code < 0x10000) result += `\\u${code.toString(16).padStart(4, '0')}`
    else result += `\\U${code.toString(16).padStart(8, '0')}`
  }
  return result + quote
}

function literal(value: unknown, limit: number): string | undefined {
  if (value === null) return 'None'
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined
  if (typeof value === 'string') return value.length <= limit ? pythonString(value) : undefined
  if (typeof value !== 'object') return undefined
  const count = Array.isArray(value) ? value.length : Object.keys(value).length
  if (count * 3 > limit + 3) return undefined
  const parts: string[] = []
  for (const [key, item] of Object.entries(value)) {
    const text = literal(item, limit)
    if (text === undefined) return undefined
    parts.push(Array.isArray(value) ? text : `${pythonString(key)}: ${text}`)
  }
  return Array.isArray(value) ? `[${parts.join(', ')}]` : `{${parts.join(', ')}}`
}
