// What is known of the schemas of one document, so that each is read once. A few hundred characters can refer to each
// other endlessly: a document has a number of steps, and what they do not reach counts as `Any`. Pure.

/** A step takes about a microsecond. The largest schemas of published servers take a few hundred. */
const MAX_STEPS = 30_000

export interface SchemaReading {
  /** How many steps are left; below 0 if the document was too complex. */
  left: number
  /** By schema: itself without references and `allOf`. */
  readonly flat: WeakMap<object, Record<string, unknown>>
  /** By schema: its type in Python, from most to least detail. */
  readonly texts: WeakMap<object, string[]>
}

const readings = new WeakMap<object, SchemaReading>()

/** @param root the document that `$ref`s point into */
export function readingOf(root: unknown): SchemaReading {
  const known = typeof root === 'object' && root !== null ? readings.get(root) : undefined
  if (known) return known
  const reading: SchemaReading = { left: MAX_STEPS, flat: new WeakMap(), texts: new WeakMap() }
  if (typeof root === 'object' && root !== null) readings.set(root, reading)
  return reading
}

/** Whether parts of the document were not read. */
export function isTooComplex(root: unknown): boolean {
  return readingOf(root).left < 0
}
