// Finds the longest of many tokens at a position of a text. Pure.

const SEPARATOR = 0x7f
/** More than three times the nodes of the common tokens, of which there must be fewer than 65,536. */
const SIZE_BITS = 17
const MASK = (1 << SIZE_BITS) - 1

/** A trie, as a hash table from a node and a code unit to the next node. It is built in a few milliseconds. */
export class TokenTrie {
  readonly #step: 1 | -1
  readonly #keys = new Uint32Array(1 << SIZE_BITS)
  /** 0 marks a free place: no node leads to the root. */
  readonly #nodes = new Uint16Array(1 << SIZE_BITS)
  readonly #endsToken = new Uint8Array(1 << 16)

  /**
   * @param tokens separated by DEL
   * @param step 1 for tokens that begin at a position, -1 for tokens that end there
   */
  constructor(tokens: string, step: 1 | -1) {
    this.#step = step
    let count = 0
    let node = 0
    for (let at = step === 1 ? 0 : tokens.length - 1; at >= 0 && at < tokens.length; at += step) {
      const unit = tokens.charCodeAt(at)
      if (unit === SEPARATOR) {
        this.#endsToken[node] = 1
        node = 0
        continue
      }
      const place = this.#placeOf(node, unit)
      if (this.#nodes[place] === 0) {
        this.#keys[place] = keyOf(node, unit)
        this.#nodes[place] = ++count
      }
      node = this.#nodes[place]!
    }
    this.#endsToken[node] = 1
  }

  /** Returns the length of the longest token; 0 if there is none. */
  longestAt(text: string, position: number): number {
    const step = this.#step
    let longest = 0
    let node = 0
    for (let at = position; at >= 0 && at < text.length; at += step) {
      node = this.#nodes[this.#placeOf(node, text.charCodeAt(at))]!
      if (node === 0) break
      if (this.#endsToken[node] === 1) longest = (at - position) * step + 1
    }
    return longest
  }

  /** Returns the place of an entry, or the free place for it. */
  #placeOf(node: number, unit: number): number {
    const key = keyOf(node, unit)
    let place = Math.imul(key, 0x9e3779b1) >>> (32 - SIZE_BITS)
    while (this.#nodes[place] !== 0 && this.#keys[place] !== key) place = (place + 1) & MASK
    return place
  }
}

const keyOf = (node: number, unit: number): number => ((node << 16) | unit) >>> 0
