// Numbers that JavaScript would write otherwise than they were read: BigInts, and floats that are whole. Their `toJSON`
// writes marked texts, of which `unmarked` makes numbers. Pure.

/** Begins the text that stands for a number. Random, so that nothing that anybody else wrote is taken for one. */
let mark: string | undefined
/** Whether numbers are written with a mark now. */
let isMarking = false
let isMarked = false

// JSON.stringify throws on a BigInt, unless it has this method. Where code does not know of them, it writes
// their digits, which are no other number.
// oxlint-disable-next-line no-extend-native
Object.defineProperty(BigInt.prototype, 'toJSON', {
  configurable: true,
  value(this: bigint) {
    return isMarking ? markedWord(String(this)) : String(this)
  },
})

function markedWord(word: string): string {
  isMarked = true
  return `${(mark ??= crypto.randomUUID())}:${word}`
}

/** The same JSON, and whether a number in it is marked. */
export function marked(value: unknown): { json: string; isMarked: boolean } {
  isMarking = true
  isMarked = false
  try {
    return { json: JSON.stringify(value), isMarked }
  } finally {
    isMarking = false
  }
}

export function unmarked(json: string): string {
  if (mark === undefined || !json.includes(mark)) return json
  return json.replaceAll(new RegExp(`"${mark}:([-+.\\deE]+)"`, 'g'), '$1')
}

/** The same for UTF-8, which is returned as it is where there is nothing to do. */
export function unmarkedBytes(json: Buffer): Buffer | string {
  return mark !== undefined && json.includes(mark) ? unmarked(json.toString()) : json
}

/** How floats of a list or object were written that are whole, by index or key. */
export type Floats = ReadonlyMap<string, string>

const floats = new WeakMap<object, Floats>()

/** Has the floats of a list or object written as they were read, as long as they are in it. */
export function keepFloats<T extends object>(holder: T, words: Floats | undefined): T {
  if (!words?.size || Object.hasOwn(holder, 'toJSON')) return holder
  floats.set(holder, words)
  // Not enumerable, so that it is no key for code that looks at the object.
  return Object.defineProperty(holder, 'toJSON', { configurable: true, value: withWords })
}

function withWords(this: object): unknown {
  if (!isMarking) return this
  const words = floats.get(this)!
  const written = (key: string, value: unknown): unknown => {
    const word = words.get(key)
    return word !== undefined && Object.is(value, Number(word)) ? markedWord(word) : value
  }
  if (Array.isArray(this)) return this.map((value, index) => written(String(index), value))
  return inOrder(new Map(Object.entries(this).map(([key, value]) => [key, written(key, value)])))
}

export function floatsOf(holder: object): Floats | undefined {
  return floats.get(holder)
}

/** Has whole floats in the value written as integers from now on. */
export function dropFloats(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (floats.delete(value)) Reflect.deleteProperty(value, 'toJSON')
  for (const inner of Object.values(value)) dropFloats(inner)
}

/** An object of these entries, which lists its keys in their order. */
export function inOrder(entries: ReadonlyMap<string, unknown>): Record<string, unknown> {
  // fromEntries defines own properties, also `__proto__`.
  const object: Record<string, unknown> = Object.fromEntries(entries)
  let mayMove = false
  for (const key of entries.keys()) mayMove ||= key >= '0' && key < ':'
  // Other keys keep their place in any object.
  if (!mayMove) return object
  const keys = [...entries.keys()]
  if (Object.keys(object).every((key, index) => key === keys[index])) return object
  return new Proxy(object, {
    ownKeys: (target) => [
      ...new Set([...keys.filter((key) => Object.hasOwn(target, key)), ...Reflect.ownKeys(target)]),
    ],
  })
}
