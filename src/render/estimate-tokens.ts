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
  [0xa0, 2],
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
  [0x2400, 2.3], // signs, arrows, mathematics
  [0x2500, 3],
  [0x2580, 1], // boxes
  [0x25a0, 1.3], // blocks
  [0x2800, 2],
  [0x3000, 3],
  [0x3100, 0.95], // Kana
  [0x3400, 2],
  [0x4e00, 3],
  [0xa000, 1.1], // Han; the rare ones cost up to three
  [0xac00, 3],
  [0xd7b0, 1.1], // Hangul
  [0xfe00, 3],
  [0xfe10, 1], // variation selectors
  [0x10000, 1.6],
  [0x1f000, 4],
  [0x20000, 2.6], // emoji
  [0x110000, 4],
]

const SPACE = 1
const NEWLINE = 2
const DIGIT = 3
const PUNCTUATION = 4
const UPPER = 5
const LOWER = 6
const OTHER = 7

/** The class of every ASCII character. */
const CLASSES = Uint8Array.from({ length: 128 }, (_, code) => classOf(String.fromCharCode(code)))
/** 1 where a letter often follows another: 26 × first + second. */
const OFTEN = Uint8Array.from({ length: 26 * 26 }, (_, pair) => {
  const [first, second] = [Math.floor(pair / 26), pair % 26].map((letter) => String.fromCharCode(0x61 + letter))
  return FOLLOWERS[first!]!.includes(second!) ? 1 : 0
})

/** Tokens that `text` costs by estimate. */
export function estimateTokens(text: string): number {
  let tokens = 0
  let before = NEWLINE
  let start = 0
  while (start < text.length) {
    const kind = classAt(text, start)
    const end = kind === UPPER || kind === LOWER ? endOfWord(text, start) : endOfRun(text, start, kind)
    tokens += costOfRun(text, start, end, kind, before)
    before = kind
    start = end
  }
  return Math.ceil(tokens)
}

function costOfRun(text: string, start: number, end: number, kind: number, before: number): number {
  const length = end - start
  switch (kind) {
    case SPACE:
      // The last space belongs to the word behind it, but not to a number.
      return Math.ceil((length - 1) / 64) + (classAt(text, end) === DIGIT ? 1 : 0)
    case NEWLINE:
      return (before === PUNCTUATION ? 0.3 : 1) + (length - 1) / 12
    case DIGIT:
      return Math.ceil(length / 3)
    case PUNCTUATION:
      return costOfSigns(text, start, end)
    case OTHER:
      return costOfOthers(text, start, end)
    default:
      return costOfWord(text, start, end)
  }
}

function costOfWord(text: string, start: number, end: number): number {
  let rare = 0
  let capitals = 0
  let before = -1
  for (let index = start; index < end; index += 1) {
    const code = text.charCodeAt(index)
    const letter = (code | 0x20) - 0x61
    if (code < 0x60) capitals += 1
    if (before >= 0 && before !== letter && OFTEN[before * 26 + letter] === 0) rare += 1
    before = letter
  }
  return 1 + Math.max(0, end - start - 4) * 0.14 + rare * 0.78 + Math.max(0, capitals - 1) * 0.28
}

/** Signs side by side are often one token when they are the same one, and seldom when they are not. */
function costOfSigns(text: string, start: number, end: number): number {
  let changes = 0
  for (let index = start + 1; index < end; index += 1) {
    if (text.charCodeAt(index) !== text.charCodeAt(index - 1)) changes += 1
  }
  return 0.85 + changes * 0.66 + (end - start - 1 - changes) / 14
}

function costOfOthers(text: string, start: number, end: number): number {
  let tokens = 0
  let before = -1
  for (let index = start; index < end; index += 1) {
    const code = text.codePointAt(index)!
    if (code > 0xffff) index += 1
    const cost = code < 0x80 ? 1 : SCRIPTS.find((script) => code < script[0])![1]
    // Lines and bars of one sign are half a token each.
    tokens += code === before && ((code >= 0x2500 && code < 0x25a0) || code === 0xfffd) ? cost / 2 : cost
    before = code
  }
  return tokens
}

function classAt(text: string, index: number): number {
  const code = text.charCodeAt(index)
  return code < 128 ? CLASSES[code]! : OTHER
}

function classOf(character: string): number {
  if (character === ' ' || character === '\t') return SPACE
  if (character === '\n' || character === '\r') return NEWLINE
  if (character >= '0' && character <= '9') return DIGIT
  if (character >= 'A' && character <= 'Z') return UPPER
  if (character >= 'a' && character <= 'z') return LOWER
  return character > ' ' && character < '\x7f' ? PUNCTUATION : OTHER
}

/** Capitals, then small letters: a capital behind a small one starts the next word. */
function endOfWord(text: string, start: number): number {
  return endOfRun(text, endOfRun(text, start, UPPER), LOWER)
}

function endOfRun(text: string, start: number, kind: number): number {
  let end = start
  while (end < text.length && classAt(text, end) === kind) end += 1
  return end
}
