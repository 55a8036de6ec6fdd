// A short name for a long text, such as a file's. Whoever reads the file compares the whole text, as names may collide;
// to load node:crypto costs a fifth of some processes' start.

const PRIMES = [0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f, 0x9e3779b1] as const

/** 128 bits in hexadecimal digits. */
export function textName(text: string): string {
  let [a, b, c, d] = [0x1b873593, 0x52dce729, 0x38495ab5, text.length]
  const take = (value: number): void => {
    const first = Math.imul(a ^ value, PRIMES[0])
    a = b ^ Math.imul(first ^ (first >>> 15), PRIMES[1])
    b = c ^ Math.imul(b + value, PRIMES[2])
    c = d + Math.imul(c ^ (value << 7), PRIMES[3])
    d = first ^ (d >>> 13)
  }
  // Four bytes at a time: this code is not compiled yet.
  const bytes = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 4) * 4)
  bytes.write(text)
  for (const word of new Int32Array(bytes.buffer)) take(word)
  // The last characters reach all bits.
  for (let round = 0; round < 8; round += 1) take(round)
  return [a, b, c, d].map((part) => (part >>> 0).toString(16).padStart(8, '0')).join('')
}
