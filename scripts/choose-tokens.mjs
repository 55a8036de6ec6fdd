// Chooses the tokens of o200k_base by which src/text/estimate-tokens.ts estimates, and writes them to src/text/common-tokens.json.
// Run by hand when the choice changes: node scripts/choose-tokens.mjs
import { writeFileSync } from 'node:fs'
import ranks from 'gpt-tokenizer/bpeRanks/o200k_base'

/** How many are taken, of those that come first: the commonest of their languages. A few thousand more gain little and weigh as much. */
const ASCII = 12_000
const OTHER = 8_000
const LONGEST = 12
/** Of one character repeated, only these lengths: others are seldom what the merging of pairs comes to. */
const RUNS = [2, 4, 8, 16, 32, 64]

const isAscii = (token) => /^\p{ASCII}*$/u.test(token)
const isRun = (token) => token.length > 1 && [...token].every((character) => character === token[0])
const isSingle = (token) => [...token].length === 1

// What is no string is a part of a character.
const tokens = ranks.filter((token) => typeof token === 'string' && !token.includes('\x7f'))
const commonest = (count, isOfKind) =>
  tokens.filter((token) => token.length <= LONGEST && isOfKind(token) && !isRun(token)).slice(0, count)
const chosen = [
  // A character that is not here costs a token for each of its bytes.
  ...tokens.filter((token) => isSingle(token) && !isAscii(token)),
  ...tokens.filter((token) => isRun(token) && RUNS.includes(token.length)),
  ...commonest(ASCII, isAscii),
  ...commonest(OTHER, (token) => !isAscii(token) && !isSingle(token)),
]
const file = new URL('../src/text/common-tokens.json', import.meta.url)
// One string, since a module with a list of so many would take its time to load. DEL is in none of them.
writeFileSync(file, `${JSON.stringify(chosen.join('\x7f'))}\n`)
