// Makes invalid inputs from valid ones, the same for the same seed: changes bytes, cuts or repeats parts, replaces JSON
// values by hostile ones.

export type Random = () => number

/** mulberry32: small, fast, and the same on every machine. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)]!

const HOSTILE: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1e308,
  2 ** 53,
  '',
  '\0',
  '\u202e\u0007\u001b[31m',
  '\ud800',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  'x'.repeat(100_000),
  [],
  {},
  [[[[[[[[[[[[]]]]]]]]]]]],
  { ['__proto__']: { polluted: true } },
  { constructor: { prototype: { polluted: true } } },
  Array.from({ length: 3_000 }, () => null),
  Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`key${index}`, index])),
]

const TOKENS = [
  '\n',
  '\r\n',
  '\u2028',
  '\ufeff',
  '{',
  ']',
  '"',
  '\\u0000',
  '\0',
  '1e999',
  '-',
  '//',
  '/*',
  '\ud83d',
  ',,',
  'NaN',
]

/** Makes one to four changes to a valid input. */
export function mutate(input: Buffer, random: Random): Buffer {
  let output = input
  for (let count = 1 + Math.floor(random() * 4); count > 0; count -= 1) {
    output = random() < 0.5 ? mutateJson(output, random) : mutateBytes(output, random)
  }
  return output
}

function mutateBytes(input: Buffer, random: Random): Buffer {
  const at = Math.floor(random() * (input.length + 1))
  const length = Math.floor(random() * Math.min(64, input.length - at + 1))
  switch (Math.floor(random() * 5)) {
    case 0: {
      const copy = Buffer.from(input)
      if (copy.length > 0) copy[Math.min(at, copy.length - 1)]! ^= 1 << Math.floor(random() * 8)
      return copy
    }
    case 1:
      return input.subarray(0, at)
    case 2:
      return Buffer.concat([input.subarray(0, at), input.subarray(at + length)])
    case 3: {
      const part = input.subarray(at, at + length)
      return Buffer.concat([
        input.subarray(0, at),
        ...Array.from({ length: 1 + Math.floor(random() * 50) }, () => part),
        input.subarray(at),
      ])
    }
    default:
      return Buffer.concat([input.subarray(0, at), Buffer.from(pick(random, TOKENS)), input.subarray(at)])
  }
}

/** Replaces one value of a JSON text, or adds a key; changes a byte of any other text. */
function mutateJson(input: Buffer, random: Random): Buffer {
  let value: unknown
  try {
    value = JSON.parse(input.toString())
  } catch {
    return mutateBytes(input, random)
  }
  const places: [Record<string, unknown>, string][] = []
  const collect = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return
    const record = node as Record<string, unknown>
    for (const key of Object.keys(record)) {
      places.push([record, key])
      collect(record[key])
    }
  }
  collect(value)
  if (places.length === 0) return Buffer.from(JSON.stringify(pick(random, HOSTILE)))
  const [record, key] = pick(random, places)
  const kind = random()
  if (kind < 0.2) delete record[key]
  else if (kind < 0.4) record[pick(random, ['extra', '', 'type', 'toString'])] = pick(random, HOSTILE)
  else record[key] = pick(random, HOSTILE)
  return Buffer.from(JSON.stringify(value))
}
