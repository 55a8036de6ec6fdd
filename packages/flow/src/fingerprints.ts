// A bounded set of 48-bit fingerprints, each with a small number. When it is full, the oldest third is forgotten. Pure.

interface Generation {
  keys: Uint32Array
  /** 16 more bits of the fingerprint, then the number; 0 for a free slot. */
  notes: Uint32Array
  count: number
}

const GENERATIONS = 3
const FIRST_SLOTS = 1 << 10
const MAX_LOAD = 0.75
export const MAX_NUMBER = 0xff_ff

export class Fingerprints {
  readonly #maxSlots: number
  readonly #merge: (a: number, b: number) => number
  /** Newest first. */
  #generations: Generation[] = [newGeneration(FIRST_SLOTS)]

  /**
   * @param maxSlots of a third; a power of two. A slot takes 8 bytes
   * @param merge returns the number of a fingerprint that is added again with another one
   */
  constructor(maxSlots: number, merge: (a: number, b: number) => number) {
    this.#maxSlots = maxSlots
    this.#merge = merge
  }

  /** Adds a fingerprint, with a number from 1 to {@link MAX_NUMBER}. */
  add(key: number, check: number, number: number): void {
    let newest = this.#generations[0]!
    let slot = slotOf(newest, key, check)
    const known = newest.notes[slot]! & MAX_NUMBER
    if (known !== 0) {
      if (known !== number) newest.notes[slot] = noteOf(check, this.#merge(known, number))
      return
    }
    if (newest.count >= newest.keys.length * MAX_LOAD) {
      newest = this.#makeRoom(newest)
      slot = slotOf(newest, key, check)
    }
    newest.keys[slot] = key
    newest.notes[slot] = noteOf(check, number)
    newest.count += 1
  }

  /** Returns the number of a fingerprint; 0 when it is unknown. */
  get(key: number, check: number): number {
    let found = 0
    for (const generation of this.#generations) {
      const known = generation.notes[slotOf(generation, key, check)]! & MAX_NUMBER
      if (known !== 0) found = found === 0 || found === known ? known : this.#merge(found, known)
    }
    return found
  }

  /** Size in memory. */
  get bytes(): number {
    return this.#generations.reduce((sum, { keys }) => sum + keys.length * 8, 0)
  }

  #makeRoom(full: Generation): Generation {
    if (full.keys.length < this.#maxSlots) {
      const larger = newGeneration(full.keys.length * 2)
      for (const [slot, key] of full.keys.entries()) {
        const note = full.notes[slot]!
        if (note === 0) continue
        const free = slotOf(larger, key, note >>> 16)
        larger.keys[free] = key
        larger.notes[free] = note
      }
      larger.count = full.count
      this.#generations[0] = larger
      return larger
    }
    this.#generations = [newGeneration(FIRST_SLOTS), ...this.#generations.slice(0, GENERATIONS - 1)]
    return this.#generations[0]!
  }
}

function newGeneration(slots: number): Generation {
  return { keys: new Uint32Array(slots), notes: new Uint32Array(slots), count: 0 }
}

const noteOf = (check: number, number: number): number => ((check & 0xff_ff) << 16) | number

/** The slot of a fingerprint, or the free one where it belongs. */
function slotOf({ keys, notes }: Generation, key: number, check: number): number {
  const last = keys.length - 1
  const wanted = check & 0xff_ff
  const unsigned = key >>> 0
  let slot = key & last
  for (;;) {
    const note = notes[slot]!
    if (note === 0 || (keys[slot] === unsigned && note >>> 16 === wanted)) return slot
    slot = (slot + 1) & last
  }
}
