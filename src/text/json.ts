// JSON from outside: parsed without an exception, and looked at without knowing its shape. Pure.

/** The value of a text; undefined when it is not JSON, since a parser's own message would quote it. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An object that is neither null nor a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What is not an object has no fields, for reading into what may not be there. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

/** What is not a list has no items. */
export function itemsOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** A copy without the fields that are undefined, for types whose optional fields are missing or hold a value. */
export function withoutUndefined<T extends object>(value: T): Defined<T> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Defined<T>
}
