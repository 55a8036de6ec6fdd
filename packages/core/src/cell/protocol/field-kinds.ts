// The kinds of fields that frames have. Each checks a hostile value by hand, because every tool call is a frame and a
// schema library takes longer for one than JSON.parse. Pure.
import { isRecord } from '../../util/json/json.ts'

export interface Kind<T = unknown> {
  /** For the reason why a value is refused. */
  doc: string
  /** As frame_types.py names it. */
  python: string
  /** Returns the value with its known fields. @throws Malformed that begins with `name` */
  read: (value: unknown, name: string) => T
  /** What an object, or each object of a list, consists of. */
  inner?: { className: string; fields: Fields }
}

/** By name, with a `?` behind that of a field that may be missing. */
export type Fields = Readonly<Record<string, Kind>>

type NameOf<K> = K extends `${infer N}?` ? N : K
type Flat<T> = { [K in keyof T]: T[K] }
/** The object that has these fields. */
export type ObjectOf<F extends Fields> = Flat<
  { [K in keyof F as K extends `${string}?` ? never : K]: TypeOf<F[K]> } & {
    [K in keyof F as K extends `${string}?` ? NameOf<K> : never]?: TypeOf<F[K]>
  }
>
export type TypeOf<K> = K extends Kind<infer T> ? T : never

/** Why a value is not a frame. */
export class Malformed extends Error {}

function kind<T>(doc: string, python: string, isOne: (value: unknown) => value is T): Kind<T> {
  const read = (value: unknown, name: string): T => {
    if (isOne(value)) return value
    const article = doc.startsWith('`') ? '' : /^[aeiou]/.test(doc) ? 'an ' : 'a '
    throw new Malformed(`${name}: not ${article}${doc}`)
  }
  return { doc, python, read }
}

const isText = (value: unknown): value is string => typeof value === 'string'

export const ANY: Kind = {
  doc: 'any',
  python: 'Any',
  read: (value, name) => {
    if (value !== undefined) return value
    throw new Malformed(`${name}: missing`)
  },
}
export const BOOLEAN = kind('boolean', 'bool', (value) => typeof value === 'boolean')
export const NUMBER = kind('number', 'float', (value): value is number => Number.isFinite(value))
export const TEXT = kind('string', 'str', isText)

export const integer = (least: number): Kind<number> =>
  kind(
    `integer from ${least}`,
    'int',
    (value): value is number => Number.isSafeInteger(value) && (value as number) >= least,
  )

export const textOf = (mostChars: number): Kind<string> =>
  kind(
    `string of at most ${mostChars} characters`,
    'str',
    (value): value is string => isText(value) && value.length <= mostChars,
  )

/** One of these texts. */
export function oneOf<T extends string>(...values: T[]): Kind<T> {
  const quoted = values.map((value) => `"${value}"`)
  const doc = quoted.map((value) => `\`${value}\``).join(', ')
  return literal(doc.replace(/, (?=[^,]*$)/, ' or '), quoted.join(', '), values)
}

/** The one value that a field has if it is there. */
export const only = <T extends boolean>(value: T): Kind<T> => literal(String(value), value ? 'True' : 'False', [value])

function literal<T>(doc: string, python: string, values: readonly T[]): Kind<T> {
  const isOne = (value: unknown): value is T => values.includes(value as T)
  const { read } = kind(doc, python, isOne)
  return { doc, python: `Literal[${python}]`, read }
}

export function listOf<T>(item: Kind<T>, most = Infinity): Kind<T[]> {
  const doc = `list of ${item.doc}${most < Infinity ? `, at most ${most}` : ''}`
  const read = (value: unknown, name: string): T[] => {
    if (!Array.isArray(value)) throw new Malformed(`${name}: not a list`)
    // Before the items are looked at.
    if (value.length > most) throw new Malformed(`${name}: more than ${most} items`)
    return value.map((one) => item.read(one, `${name}[]`))
  }
  return { doc, python: `list[${item.python}]`, read, ...(item.inner && { inner: item.inner }) }
}

/** @param className its name in Python */
export function object<F extends Fields>(className: string, fields: F): Kind<ObjectOf<F>> {
  const read = readerOf(fields)
  const readInner = (value: unknown, name: string): ObjectOf<F> => {
    if (!isRecord(value)) throw new Malformed(`${name}: not an object`)
    return read(value, {}, `${name}.`)
  }
  return { doc: 'object', python: className, read: readInner, inner: { className, fields } }
}

/** An object of any keys, at most `most`. */
export function record(what: string, most: number): Kind<Record<string, unknown>> {
  const read = (value: unknown, name: string): Record<string, unknown> => {
    if (!isRecord(value)) throw new Malformed(`${name}: not an object`)
    if (Object.keys(value).length > most) throw new Malformed(`${name}: more than ${most} ${what}`)
    // JSON.parse creates an ordinary key, but code that copies the object by assignment would set the prototype.
    delete value['__proto__']
    return value
  }
  return { doc: `object of at most ${most} ${what}`, python: 'dict[str, Any]', read }
}

/** Returns a function that copies these fields, checked, from one object into another. */
export function readerOf<F extends Fields>(fields: F) {
  const entries = Object.entries(fields).map(([key, { read }]) => {
    return { name: key.replace('?', ''), isOptional: key.endsWith('?'), read }
  })
  return (from: Record<string, unknown>, into: Record<string, unknown>, prefix = ''): ObjectOf<F> => {
    for (const { name, isOptional, read } of entries) {
      const value = from[name]
      if (value !== undefined || !isOptional) into[name] = read(value, prefix === '' ? name : prefix + name)
    }
    return into as ObjectOf<F>
  }
}
