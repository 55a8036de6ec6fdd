// The shape of a JSON value or a Python container's repr: `list of 50,000 × {id, name}`. One scan, no value. Pure.

const MAX_KEYS = 12
const MAX_KEY_CHARS = 40
/** Levels of nested lists and dicts that are described; deeper ones are skipped. */
const MAX_DEPTH = 2
const MAX_NESTING = 1_000
/** Longest number or class name. */
const MAX_WORD_CHARS = 60

const CLOSERS: Readonly<Record<string, string>> = { '[': ']', '(': ')', '{': '}' }
const NAMES: Readonly<Record<string, string>> = { '[': 'list', '(': 'tuple', '{': 'set' }
const IS_TRUTH = /^(?:true|false)$/i
const IS_NOTHING = /^(?:null|none)$/i

/** Undefined when the text is neither, or has several values. */
export function literalShape(text: string): string | undefined {
  if (!/^\s*[[({]/.test(text)) return undefined
  try {
    const scan = new Scan(text)
    const shape = scan.described(0)
    scan.end()
    return shape
  } catch (error) {
    if (error instanceof NotLiteral) return undefined
    throw error
  }
}

class NotLiteral extends Error {}

class Scan {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  end(): void {
    if (this.#next() !== '') throw new NotLiteral()
  }

  /** Reads one value. */
  described(depth: number): string {
    const start = this.#next()
    if (start === '{') return this.#dict(depth)
    if (start === '[' || start === '(') return this.#items(start, depth)
    const from = this.#at
    this.#skip()
    return kindOf(this.#text.slice(from, Math.min(this.#at, from + MAX_WORD_CHARS)))
  }

  #items(open: string, depth: number, first?: string): string {
    let item = first
    let count = 1
    if (first === undefined) {
      this.#at += 1
      if (this.#take(CLOSERS[open]!)) return `empty ${NAMES[open]}`
      item = this.#inner(depth)
    }
    while (!this.#take(CLOSERS[open]!)) {
      this.#expect(',')
      // A tuple with one item ends with a comma.
      if (this.#take(CLOSERS[open]!)) break
      this.#skip()
      count += 1
    }
    return `${NAMES[open]} of ${count.toLocaleString('en')} × ${item}`
  }

  #dict(depth: number): string {
    const shown: string[] = []
    let count = 0
    this.#at += 1
    if (this.#take('}')) return '{}'
    for (;;) {
      const from = (this.#next(), this.#at)
      this.#skip()
      if (count === 0 && this.#next() !== ':') {
        this.#at = from
        return this.#items('{', depth, this.#inner(depth))
      }
      const key = this.#text.slice(from, this.#at).trim()
      this.#expect(':')
      const isList = ['[', '('].includes(this.#next())
      const value = count < MAX_KEYS && isList && depth < MAX_DEPTH ? this.described(depth + 1) : this.#skip()
      if (count < MAX_KEYS) shown.push(withoutQuotes(key).slice(0, MAX_KEY_CHARS) + (value ? `: ${value}` : ''))
      count += 1
      if (this.#take('}')) break
      this.#expect(',')
    }
    const more = count - shown.length
    return `{${shown.join(', ')}${more > 0 ? `, … ${more.toLocaleString('en')} more keys` : ''}}`
  }

  #inner(depth: number): string {
    if (depth < MAX_DEPTH || !(this.#next() in CLOSERS)) return this.described(depth + 1)
    this.#skip()
    return '…'
  }

  /** Moves past one value, to the next comma, colon or closing bracket. */
  #skip(): undefined {
    const text = this.#text
    const closers: string[] = []
    const start = (this.#next(), this.#at)
    for (; this.#at < text.length; this.#at += 1) {
      const character = text[this.#at]!
      if (character === '"' || character === "'") this.#at = endOfString(text, this.#at)
      else if (character in CLOSERS) {
        if (closers.push(CLOSERS[character]!) > MAX_NESTING) throw new NotLiteral()
      } else if (closers.length > 0) {
        if (character === closers.at(-1)) closers.pop()
        else if (character === ']' || character === ')' || character === '}') throw new NotLiteral()
      } else if (',:])}'.includes(character)) break
    }
    if (this.#at === start || closers.length > 0) throw new NotLiteral()
  }

  /** The next character that is not white space; empty at the end. */
  #next(): string {
    while (this.#at < this.#text.length && this.#text.charCodeAt(this.#at) <= SPACE) this.#at += 1
    return this.#text[this.#at] ?? ''
  }

  #take(character: string): boolean {
    if (this.#next() !== character) return false
    this.#at += 1
    return true
  }

  #expect(character: string): void {
    if (!this.#take(character)) throw new NotLiteral()
  }
}

const SPACE = 0x20

/** The position of the closing quote. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ;) {
    const quote = text.indexOf(text[start]!, at)
    if (quote === -1) throw new NotLiteral()
    let backslashes = 0
    while (quote - backslashes > at && text[quote - backslashes - 1] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return quote
    at = quote + 1
  }
}

function kindOf(word: string): string {
  const shown = word.trim()
  if (/^["']/.test(shown)) return 'str'
  if (/^b["']/.test(shown)) return 'bytes'
  if (/^[-\d]/.test(shown)) return 'number'
  if (IS_TRUTH.test(shown)) return 'bool'
  if (IS_NOTHING.test(shown)) return 'None'
  return /^[A-Za-z_][\w.]*(?=\()/.exec(shown)?.[0] ?? '…'
}

function withoutQuotes(key: string): string {
  return /^(["']).*\1$/s.test(key) ? key.slice(1, -1) : key
}
