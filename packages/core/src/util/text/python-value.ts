// Reads a Python literal for its shape; the kernel parses the same texts with Python's own parser. Pure.

const MAX_DEPTH = 60
const SPACE = /\s*/y
const NUMBER = /[-+]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?(?![\w.])/iy
const NAME = /(?:True|False|None)\b/y
const STRING = /[bBrRuU]{0,2}(?:'(?:[^'\\\n]|\\[^])*'|"(?:[^"\\\n]|\\[^])*")/y
const NAMED: Record<string, unknown> = { True: true, False: false, None: null }

/** The value of a list, tuple or dict, tuples as lists; undefined for other text. Strings keep their escapes. */
export function parsePythonLiteral(text: string): unknown {
  if (!/^\s*[[({]/.test(text)) return undefined
  const reader = new Reader(text)
  try {
    const value = reader.value(0)
    return reader.isAtEnd && typeof value === 'object' && value !== null ? value : undefined
  } catch (error) {
    if (error instanceof NoLiteral) return undefined
    throw error
  }
}

class NoLiteral extends Error {}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    this.#take(SPACE)
    return this.#at === this.#text.length
  }

  value(depth: number): unknown {
    if (depth > MAX_DEPTH) throw new NoLiteral()
    if (this.#skip('[')) return this.#items(']', depth).items
    if (this.#skip('{')) return this.#dict(depth)
    if (this.#skip('(')) {
      const { items, isList } = this.#items(')', depth)
      return items.length === 1 && !isList ? items[0] : items
    }
    const word = this.#take(NAME)
    if (word !== undefined) return NAMED[word]
    const number = this.#take(NUMBER)
    if (number !== undefined) return Number(number.replaceAll('_', ''))
    const string = this.#take(STRING)
    if (string === undefined) throw new NoLiteral()
    return string.slice(string.search(/['"]/) + 1, -1)
  }

  #items(end: string, depth: number): { items: unknown[]; isList: boolean } {
    const items: unknown[] = []
    let isList = true
    while (!this.#skip(end)) {
      if (!isList) throw new NoLiteral()
      items.push(this.value(depth + 1))
      isList = this.#skip(',')
    }
    return { items, isList: isList || items.length !== 1 }
  }

  #dict(depth: number): Record<string, unknown> {
    const pairs: [string, unknown][] = []
    let isMore = true
    while (!this.#skip('}')) {
      if (!isMore) throw new NoLiteral()
      const key = this.value(depth + 1)
      if (!this.#skip(':')) throw new NoLiteral()
      pairs.push([String(key), this.value(depth + 1)])
      isMore = this.#skip(',')
    }
    return Object.fromEntries(pairs)
  }

  #skip(mark: string): boolean {
    this.#take(SPACE)
    if (this.#text[this.#at] !== mark) return false
    this.#at += 1
    return true
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const [found] = pattern.exec(this.#text) ?? []
    if (found !== undefined) this.#at += found.length
    return found
  }
}
