// What a text costs a model, in tokens, without a tokenizer: the shape of words stands in for a vocabulary of megabytes. Pure, and linear.
// The weights are fitted against o200k_base; estimate-tokens.test.ts holds them to it: at most 10 % too low, and on ordinary text at most 60 % too high.

/** Letters that often follow a letter inside one token. Where another one comes, as in random names and in base64, a token mostly ends. */
const FOLLOWERS: Record<string, string> = {
  a: 'bcdfghijklmnpqrstuvwxyz',
  b: 'abeilorsuy',
  c: 'acehiklmorstuyz',
  d: 'abdeiorsuy',
  e: 'abcdefgklmnprstvwxyz',
  f: 'adefgilnorstuxy',
  g: 'abeghilnorstuy',
  h: 'aeilortuy',
  i: 'abcdefghjklmnoprstvxyz',
  j: 'aejsu',
  k: 'aehijklnorstuwy',
  l: 'adeilostuy',
  m: 'abdeilmopstuy',
  n: 'acdeghiknostuy',
  o: 'bcdfghjklmnoprstuvwxy',
  p: 'aceghilmoprstuxy',
  q: 'lqu',
  r: 'acdegiklmnorstuvy',
  s: 'ceghiklmopstuvy',
  t: 'adehiorstuy',
  u: 'abcdefghijklmnprstvwxyz',
  v: 'aeiorsy',
  w: 'adehinorstwy',
  x: 'ptxy',
  y: 'elmnprst',
  z: 'aehitwyz',
}

/** Tokens for a character of a script, by the code point that the script ends before. Scripts that are not here cost a token for nearly every byte. */
const SCRIPTS: readonly (readonly [end: number, tokens: number])[] = [
  [0xc0, 1], // signs of Latin-1
  [0x250, 0.75], // Latin with accents
  [0x370, 1.2],
  [0x400, 0.55], // Greek
  [0x530, 0.36], // Cyrillic
  [0x590, 0.4], // Armenian
  [0x600, 0.55], // Hebrew
  [0x700, 0.37], // Arabic
  [0x900, 2],
  [0x980, 0.38], // Devanagari
  [0xe00, 0.5], // of India
  [0xe80, 0.5], // Thai
  [0x1000, 1.6],
  [0x10a0, 0.6], // Burmese
  [0x1100, 0.45], // Georgian
  [0x1780, 3],
  [0x1800, 0.65], // Khmer
  [0x1e00, 3],
  [0x2000, 1], // Latin and Greek with accents
  [0x2070, 1], // general punctuation
  [0x2500, 2], // signs, arrows, mathematics
  [0x25a0, 1], // boxes and blocks
  [0x2800, 2],
  [0x3000, 3],
  [0x3100, 0.95], // Kana
  [0x3400, 2],
  [0x4e00, 3],
  [0xa000, 1.1], // Han; the rare ones cost up to three
  [0xac00, 3],
  [0xd7b0, 0.95], // Hangul
  [0xfe00, 3],
  [0xfe10, 1], // variation selectors
  [0x10000, 1.6],
  [0x1f000, 4],
  [0x20000, 2.6], // emoji
  [0x110000, 4],
]

const OTHER = 0
const SPACE = 1
const NEWLINE = 2
const DIGIT = 3
const PUNCTUATION = 4
const UPPER = 5
const LOWER = 6

/** The class of every ASCII character. */
const CLASSES = Uint8Array.from({ length: 128 }, (_, code) => classOf(String.fromCharCode(code)))
/** 1 where the second letter often follows the first, by 26 × first + second. */
const OFTEN = followerTable()

/** Tokens that `text` costs by estimate. */
export function estimateTokens(text: string): number {
  let tokens = 0
  let previous = NEWLINE
  let index = 0
  while (index < text.length) {
    const kind = classAt(text, index)
    const end = endOfRun(text, index, kind)
    tokens += costOfRun(text, index, end, kind, previous)
    previous = kind
    index = end
  }
  return Math.ceil(tokens)
}

function costOfRun(text: string, start: number, end: number, kind: number, previous: number): number {
  const length = end - start
  switch (kind) {
    case SPACE:
      // One space belongs to the word behind it, but not to a number.
      return Math.ceil((length - (classAt(text, end) === DIGIT ? 0 : 1)) / 64)
    case NEWLINE:
      return (previous === PUNCTUATION ? 0.3 : 1) + (length - 1) / 12
    case DIGIT:
      return Math.ceil(length / 3)
    case PUNCTUATION:
      return costOfPunctuation(text, start, end)
    case LOWER:
      return costOfWord(text, start, end)
    default:
      return costOfOther(text, start, end)
  }
}

/** A word: capital letters, then small ones. */
function costOfWord(text: string, start: number, end: number): number {
  let rare = 0
  let capitals = 0
  let before = -1
  for (let index = start; index < end; index += 1) {
    const code = text.charCodeAt(index)
    const letter = (code | 0x20) - 0x61
    if (code < 0x60) capitals += 1
    if (before >= 0 && OFTEN[before * 26 + letter] === 0) rare += 1
    before = letter
  }
  const extraCapitals = Math.max(0, capitals - 1)
  return 1 + Math.max(0, end - start - 5) * 0.1 + rare * 0.72 + extraCapitals * 0.28
}

/** Signs side by side are often one token when they are the same one, and rarely when they are not. */
function costOfPunctuation(text: string, start: number, end: number): number {
  let changes = 0
  for (let index = start + 1; index < end; index += 1) {
    if (text.charCodeAt(index) !== text.charCodeAt(index - 1)) changes += 1
  }
  return 0.85 + changes * 0.62 + (end - start - 1 - changes) / 14
}

function costOfOther(text: string, start: number, end: number): number {
  let tokens = 0
  let run = 0
  let before = -1
  for (let index = start; index < end; index += 1) {
    const code = text.codePointAt(index)!
    if (code > 0xffff) index += 1
    run = code === before ? run + 1 : 0
    before = code
    const weight = tokensOf(code)
    tokens += weight
  }
  return tokens
}

function tokensOf(code: number): number {
  // Control characters
  if (code < 0x80) return 1
  for (const [end, tokens] of SCRIPTS) if (code < end) return tokens
  return 4
}

function endOfRun(text: string, start: number, kind: number): number {
  let end = start + 1
  if (kind === UPPER || kind === LOWER) {
    return endOfWord(text, start)
  }
  while (end < text.length && classAt(text, end) === kind) end += 1
  return end
}
