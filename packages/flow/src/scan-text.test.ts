import { expect, it, vi } from 'vitest'
import {
  HAS_CAPITAL,
  HAS_DIGIT,
  HAS_FOREIGN,
  HAS_LETTER,
  KEY,
  KIND,
  Scanner,
  STRIDE,
  TRAITS,
  WORD,
} from './scan-text.ts'

async function keysOf(text: string): Promise<number[]> {
  vi.resetModules()
  const { Scanner: Another } = await import('./scan-text.ts')
  return scanned(text, new Another())
}

/** The keys of its units. */
function scanned(text: string, scanner = new Scanner()): number[] {
  scanner.scan(text)
  return Array.from({ length: scanner.end / STRIDE }, (_, unit) => scanner.units[unit * STRIDE + KEY]!)
}

it('hashes differ between processes: nobody can prepare a text that counts as another one', async () => {
  const [one, other] = [await keysOf('bob@acme.example'), await keysOf('bob@acme.example')]
  expect(one).toHaveLength(other.length)
  expect(one.filter((key, at) => key === other[at])).toEqual([])
})

it('no two texts have the same hash in every process, not even a pair that is made for it', () => {
  // Thue-Morse: the polynomial of what they differ in is a multiple of a large power of two at every odd point.
  const pair = (length: number, ...letters: [string, string]) => {
    const bits = Array.from({ length }, (_, at) => at.toString(2).replaceAll('0', '').length % 2)
    return [bits.map((bit) => letters[bit]!).join(''), bits.map((bit) => letters[1 - bit]!).join('')] as const
  }
  for (const [one, other] of [pair(64, '0', 'p'), pair(128, '1', 'a'), pair(1024, 'a', 'b'), pair(32, 'ᐁ', 'ꐁ')]) {
    const [first, second] = [scanned(one), scanned(other)]
    expect(first).toHaveLength(second.length)
    expect(
      first.filter((key, at) => key === second[at]),
      one,
    ).toEqual([])
    // Control: the same text.
    expect(scanned(one)).toEqual(first)
  }
})

it('a long text is told in portions as it is told at once', () => {
  const scanner = new Scanner()
  const text = Array.from({ length: 2_000 }, (_, at) => `word${at}, ann${at}@acme.example`).join('\n')
  scanner.scan(text)
  const atOnce = scanner.units.slice(0, scanner.end)
  const portions: number[] = []
  scanner.scan(text, (units, end) => portions.push(...units.subarray(0, end)))
  expect(portions.join(' ')).toBe(atOnce.join(' '))
  scanner.scan('short')
  expect(scanner.units.length).toBeLessThan(atOnce.length)
})

it.each([
  ['bob', HAS_LETTER],
  ['Bob', HAS_LETTER + HAS_CAPITAL],
  ['b0b', HAS_LETTER + HAS_DIGIT],
  ['B0b', HAS_LETTER + HAS_CAPITAL + HAS_DIGIT],
  ['4711', HAS_DIGIT],
  ['ᐁᐁ', HAS_LETTER + HAS_FOREIGN],
])('a word such as %s has its own traits', (word, traits) => {
  const scanner = new Scanner()
  scanner.scan(word)
  const units = Array.from({ length: scanner.end / STRIDE }, (_, unit) => unit * STRIDE)
  const found = units.filter((at) => scanner.units[at + KIND] === WORD).map((at) => scanner.units[at + TRAITS])
  expect(found).toEqual([traits])
})
