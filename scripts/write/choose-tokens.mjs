// Selects the tokens of o200k_base that packages/core/src/util/tokens/estimate-tokens.ts uses, and writes them to
// packages/core/src/util/tokens/common-tokens.json. Run by hand when the selection changes: node
// scripts/write/choose-tokens.mjs
import { writeFileSync } from 'node:fs'
import ranks from 'gpt-tokenizer/bpeRanks/o200k_base'

/** How many to take, starting with the most common. A few thousand more gain little and weigh as much. */
const ASCII = 12_000
const OTHER = 8_000
const LONGEST = 12
/** Of one repeated character, only these lengths: merging pairs seldom gives others. */
const RUNS = [2, 4, 8, 16, 32, 64]

const isAscii = (token) => /^\p{ASCII}*$/u.test(token)
const isRun = (token) => token.length > 1 && [...token].every((character) => character === token[0])
const isSingle = (token) => [...token].length === 1

// A token that is not a string is part of a character.
const tokens = ranks.filter((token) => typeof token === 'string' && !token.includes('\x7f'))
const commonest = (count, isOfKind) =>
  tokens.filter((token) => token.length <= LONGEST && isOfKind(token) && !isRun(token)).slice(0, count)
const chosen = [
  // A character that is not included costs one token per byte.
  ...tokens.filter((token) => isSingle(token) && !isAscii(token)),
  ...tokens.filter((token) => isRun(token) && RUNS.includes(token.length)),
  ...commonest(ASCII, isAscii),
  ...commonest(OTHER, (token) => !isAscii(token) && !isSingle(token)),
]
const file = new URL('../../packages/core/src/util/tokens/common-tokens.json', import.meta.url)
// One string, because a module with such a long list would load slowly. No token contains DEL.
writeFileSync(file, `${JSON.stringify(chosen.join('\x7f'))}\n`)
