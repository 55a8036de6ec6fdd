// Stores vectors one after another in one growing array. Pure.

const FIRST_ROWS = 64
const GROWTH = 1.5

export class VectorTable {
  readonly #dimensions: number
  #values: Float32Array
  #rows = 0

  constructor(dimensions: number) {
    this.#dimensions = dimensions
    this.#values = new Float32Array(FIRST_ROWS * dimensions)
  }

  /** Appends a copy. @returns its row */
  push(vector: Float32Array): number {
    const from = this.#rows * this.#dimensions
    if (from + this.#dimensions > this.#values.length) {
      const larger = new Float32Array(Math.ceil(this.#values.length * GROWTH))
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values.set(vector, from)
    this.#rows += 1
    return this.#rows - 1
  }

  /** Adds a row to `sum`; a negative row adds nothing. */
  addTo(sum: Float32Array, row: number): void {
    if (row < 0) return
    const values = this.#values
    const length = sum.length
    const from = row * length
    for (let at = 0; at < length; at += 1) sum[at]! += values[from + at]!
  }

  /** The dot product of each row and a vector; 0 where it is negative. */
  products(vector: Float32Array): Float64Array {
    const values = this.#values
    const length = vector.length
    const products = new Float64Array(this.#rows)
    for (let row = 0, from = 0; row < products.length; row += 1, from += length) {
      // Two sums: a processor can add to both at once.
      let even = length % 2 === 0 ? 0 : vector[length - 1]! * values[from + length - 1]!
      let odd = 0
      for (let at = 0; at + 1 < length; at += 2) {
        even += vector[at]! * values[from + at]!
        odd += vector[at + 1]! * values[from + at + 1]!
      }
      if (even + odd > 0) products[row] = even + odd
    }
    return products
  }
}

/** Scales to length 1; false for a zero vector. */
export function normalize(vector: Float32Array): boolean {
  let sum = 0
  for (let at = 0; at < vector.length; at += 1) sum += vector[at]! * vector[at]!
  if (sum === 0) return false
  const scale = 1 / Math.sqrt(sum)
  for (let at = 0; at < vector.length; at += 1) vector[at]! *= scale
  return true
}
