// Splits text and names into word stems: `createPullRequests`, `create-pull-request` and "creating pull requests" give
// the same three. Of scripts without spaces between words, each two characters that follow each other are a word. Pure.

/** A word as it is written, in lower case, and its stem. */
export interface Token {
  word: string
  stem: string
  isStopWord: boolean
}

const STOP_WORDS = new Set(
  (
    'a an the of to in on at for with by from as into onto about and or but if so than then that this these those there it its is are was ' +
    'were be been being am i me my mine we us our you your he she they them their his her do does did done can could would should will ' +
    'shall may might must have has had having please want wanted need needed like let lets how what which who whom whose when where why ' +
    'some any each just also too very really now out up off over under via using use used someone something somebody anything thing things ' +
    'tool tools way'
  ).split(' '),
)

/** Whether the word occurs in almost every sentence. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word)
}

/** A run of letters and digits: its words and, when there are several, the whole as one word. */
export interface Chunk {
  tokens: readonly Token[]
  /** `BibTeX` also counts as `bibtex`, the usual spelling. */
  joined: Token | undefined
}

/** The words of a sentence or a name: split at separators, at camelCase humps and around acronyms. */
export function tokens(text: string): Token[] {
  const found: Token[] = []
  for (const chunk of chunksOf(text)) for (const token of chunk.tokens) found.push(token)
  return found
}

/** The unbroken runs of letters and digits in a text; each is one word or, like `createIssue`, several. */
export function chunksOf(text: string): Chunk[] {
  const found: Chunk[] = []
  let start = -1
  let mayBeUnspaced = false
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : SPACE
    if (isPartOfWord(code)) {
      if (start < 0) start = at
      mayBeUnspaced ||= code >= FIRST_UNSPACED
    } else if (start >= 0) {
      const run = text.slice(start, at)
      if (mayBeUnspaced && UNSPACED.test(run)) for (const part of partsOf(run)) found.push(chunkOf(part))
      else found.push(chunkOf(run))
      start = -1
      mayBeUnspaced = false
    }
  }
  return found
}

const SPACE = 32
/** The first character of Thai. */
const FIRST_UNSPACED = 0x0e00
/** Scripts that put no spaces between words. */
const UNSPACED = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}]/u
const OF_ONE_KIND = new RegExp(`${UNSPACED.source}+|(?:(?!${UNSPACED.source})[\\p{L}\\p{N}])+`, 'gu')

/** The runs of other scripts, and each pair of neighbours in those that put no spaces between words. */
function partsOf(run: string): string[] {
  const letters = run
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .replace(/\p{M}/gu, '')
  return (letters.match(OF_ONE_KIND) ?? []).flatMap((part) => {
    const each = UNSPACED.test(part) ? Array.from(part) : [part]
    return each.length === 1 ? each : each.slice(1).map((letter, at) => each[at]! + letter)
  })
}

export function words(text: string): string[] {
  return tokens(text).map((token) => token.word)
}

export function stems(text: string): string[] {
  return tokens(text).map((token) => token.stem)
}

/** A word without its English endings, to bring its forms together (`deleted`, `deletes` → `delet`). */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word))
    return word.length === 3 && /^[^s]+[^aeious]s$/.test(word) ? word.slice(0, -1) : word
  let root = withoutPlural(word)
  root = withoutTense(root)
  if (root.length > 9 && root.endsWith('ment')) root = root.slice(0, -4)
  if (root.length > 5 && root.endsWith('ly')) root = root.slice(0, -2)
  if (root.length > 6 && root.endsWith('val')) return root.slice(0, -2)
  if (root.length > 8 && root.endsWith('ation')) return root.slice(0, -5)
  if (root.length > 5 && /[st]ion$/.test(root)) root = root.slice(0, -3)
  if (root.length > 4 && root.endsWith('e') && !isShort(root.slice(0, -1))) root = root.slice(0, -1)
  if (root.length > 5 && root.endsWith('at')) root = root.slice(0, -2)
  return root.length > 3 && root.endsWith('y') ? `${root.slice(0, -1)}i` : root
}

function withoutPlural(word: string): string {
  if (word.endsWith('ies')) return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1)
  if (/(?:ss|sh|ch|x|zz)es$/.test(word)) return word.slice(0, -2)
  return /[^s]s$/.test(word) && !/(?:us|is)$/.test(word) ? word.slice(0, -1) : word
}

function withoutTense(word: string): string {
  const match = /^(.*[aeiouy].*)(?:ing|ed)$/.exec(word)
  const root = match?.[1]
  if (root === undefined || root.length < 3) return word
  if (root.length > 3 && /([b-df-hj-km-npqrtv-y])\1$/.test(root)) return root.slice(0, -1)
  return isShort(root) ? `${root}e` : root
}

/** Whether a final `e` makes another word: `plan` and `plane`, with the forms `planning` and `planing`. */
function isShort(root: string): boolean {
  return /^[^aeiouy]+[aeiouy][^aeiouwxy]$/.test(root)
}

/** Treats every non-ASCII character as a letter, which is several times faster than a check; `splitChunk` checks. */
function isPartOfWord(code: number): boolean {
  if (code >= 97) return code <= 122 || code >= 128
  return (code >= 65 && code <= 90) || (code >= 48 && code <= 57)
}

const CACHE_LIMIT = 50_000
const cache = new Map<string, Chunk>()

/** The words of a chunk, cached: descriptions share a few thousand. The limit stops hostile lists. */
function chunkOf(chunk: string): Chunk {
  const known = cache.get(chunk)
  if (known !== undefined) return known
  const split = /^(?:[a-z]+|[0-9]+)$/.test(chunk) ? [tokenFor(chunk)] : splitChunk(chunk)
  const made = {
    tokens: split,
    joined: split.length > 1 ? tokenFor(split.map(({ word }) => word).join('')) : undefined,
  }
  if (cache.size >= CACHE_LIMIT) cache.clear()
  cache.set(chunk, made)
  return made
}

function splitChunk(chunk: string): Token[] {
  return (
    chunk
      .slice(0, 64)
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      // The plural of an acronym: URLs, PRs.
      .replace(/(\p{Lu}{2,})s(?!\p{Ll})/gu, '$1')
      .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
      .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((part) => part !== '')
      .map(tokenFor)
  )
}

function tokenFor(word: string): Token {
  return { word, stem: stem(word), isStopWord: STOP_WORDS.has(word) }
}
