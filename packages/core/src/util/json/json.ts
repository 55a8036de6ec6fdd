// Helpers for JSON of unknown shape: parse without exceptions, read without type errors. Pure.

/** Parses a text; undefined if it is not JSON. Reports no parser error, since that would quote the text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** True for an object that is neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the value if it is an object, else an empty one. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

/** Returns the value if it is an array, else an empty one. */
export function itemsOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** The value at a path of own keys and indexes; undefined when one is missing. */
export function valueAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  let at = value
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = Reflect.get(at, key)
  }
  return at
}

/** Copies plain JSON with every text changed; the names of fields stay. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((inner: unknown) => mapTexts(inner, change))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapTexts(inner, change)]))
}

/** Every text of plain JSON, and the names of its fields. */
export function* textsIn(value: unknown): Generator<string> {
  const inside = [value]
  while (inside.length > 0) {
    const next = inside.pop()
    if (typeof next === 'string') yield next
    else if (typeof next === 'object' && next !== null) {
      if (!Array.isArray(next)) yield* Object.keys(next)
      for (const one of Object.values(next)) inside.push(one)
    }
  }
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** Copies an object without its undefined fields, for types whose optional fields are missing or hold a value. */
export function withoutUndefined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Defined<T>
}

/** Whether `value` nests more than `levels` levels. Not recursive, because depth is what it guards. */
export function isNestedDeeperThan(levels: number, value: unknown): boolean {
  let inside: unknown[] = [value]
  for (let level = 0; level <= levels; level += 1) {
    const next: unknown[] = []
    for (const one of inside)
      if (typeof one === 'object' && one !== null) for (const inner of Object.values(one)) next.push(inner)
    if (next.length === 0) return false
    inside = next
  }
  return true
}

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
