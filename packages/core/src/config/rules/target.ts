// The servers and tools that a rule names. Names that a person could confuse count as the same name in a rule that
// denies or asks, and as different names in a rule that allows. Pure.
import { fitsGlob } from '../../util/text/glob.ts'
import { withSpaces } from '../../util/text/python-name.ts'
import { INVISIBLE } from '../../util/text/visible.ts'

/** A server and one of its tools, or patterns of them. */
interface Pair {
  server: string
  tool: string
}

export interface Target {
  /** Every way to read the rule: a name may itself contain `__`. */
  readings: Pair[]
  /** The normalised server names, when none is a pattern: rules are looked up by them. */
  indexedServers: string[] | undefined
  matches(server: string, tool: string): boolean
}

const MAX_CHARS = 512
const MAX_STARS = 8
/** Characters with a meaning in other hosts' rules. They are reported, because ignoring them would change the rule. */
const FOREIGN = /[()[\]{}?|\\!,]/

// Where a server's name may end, each a lookahead, since `a___b` has two such places.
const DOUBLE = /(?=(__))/g
const DEFINITE = /(?=(__|[./:]))/g
const SINGLE = /(?=([_./:]))/g
const ANY = /(?=([^\p{L}\p{N}]))/gu

/** A server and a tool by their names, in which `*` stands for itself. */
export function exactTarget(pair: Pair, isStrict: boolean): Target {
  const plain = { server: plainName(pair.server), tools: plainTools(pair.tool) }
  return {
    readings: [pair],
    indexedServers: [plain.server],
    matches: isStrict
      ? (server, tool) =>
          plainName(server) === plain.server && plainTools(tool).some((one, form) => one === plain.tools[form])
      : (server, tool) => server === pair.server && tool === pair.tool,
  }
}

/** Parses a rule that is one text: `server`, `server__tool`, with `*` in either part and an optional `mcp__` prefix. */
export function parseTarget(text: string, isStrict: boolean): Target {
  if (!isStrict) return compile(splits(text.replace(/^mcp__/, ''), DOUBLE).slice(0, 1), false)
  // A strict rule matches every possible reading: other hosts and Python write `github_x`, `github.x`, `github/x`.
  const readings = withoutPrefix(text).flatMap((one) =>
    splits(one, one.includes('__') ? DOUBLE : one.includes('*') ? SINGLE : ANY),
  )
  return compile(readings, true)
}

/** The tool of a server. A strict rule may have the server's name before that of the tool, too. */
export function targetOf({ server, tool = '*' }: Partial<Pair> & { server: string }, isStrict: boolean): Target {
  if (!isStrict) return compile([{ server, tool }], false)
  const servers = withoutPrefix(server)
  const isServers = (name: string): boolean => servers.some((one) => plainName(one) === plainName(name))
  const named = withoutPrefix(tool).flatMap((one) => splits(one, DEFINITE).filter((pair) => isServers(pair.server)))
  const tools = [tool, ...named.map((pair) => pair.tool)]
  return compile(
    servers.flatMap((one) => tools.map((name) => ({ server: one, tool: name }))),
    true,
  )
}

/** Parses a rule in a server's own definition: a tool, optionally with the server's name before it. */
export function parseOwnTarget(text: string, server: string, isStrict: boolean): Target {
  const prefix = [`mcp__${server}__`, `${server}__`].find((one) => text.startsWith(one)) ?? ''
  return targetOf({ server, tool: isStrict ? text : text.slice(prefix.length) }, isStrict)
}

/** Returns what is wrong with a name; undefined for a valid one. */
export function nameProblem(name: string): string | undefined {
  if (name.trim() === '') return 'is empty'
  if (name.length > MAX_CHARS) return `is longer than ${MAX_CHARS} characters`
  return /\p{Cc}/u.test(name) ? 'holds a control character' : undefined
}

/** Returns what is wrong with a pattern; undefined for a valid one. */
export function patternProblem(pattern: string, isWholeRule: boolean): string | undefined {
  const wrong = nameProblem(pattern)
  if (wrong !== undefined) return wrong
  if (pattern.split('*').length - 1 > MAX_STARS || pattern.includes('***')) return `has more than ${MAX_STARS} *`
  if (!isWholeRule) return undefined
  const [found] = FOREIGN.exec(pattern) ?? []
  if (found !== undefined)
    return `holds ${found}, which means nothing here: write server or server__tool, with * for any text`
  const [first, ...others] = pattern.replace(/^mcp__/, '').split('__')
  return first === '' || (others.length > 0 && others.join('__') === '') ? 'names no server or no tool' : undefined
}

/** Normalises a name so that look-alikes are equal: Unicode form, case, invisible characters and separators. */
export function plainName(name: string): string {
  return plainPiece(name).replaceAll(/^_+|_+$/g, '')
}

function plainPiece(text: string): string {
  return text
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .replace(/[^\p{L}\p{N}*]+/gu, '_')
}

/** Two forms of a tool's name, of which each is compared with the same one: as one word, and `deleteFile` as two. */
function plainTools(tool: string): [whole: string, words: string] {
  return [plainName(tool), plainName(withSpaces(tool.normalize('NFKC').replace(INVISIBLE, '')))]
}

/** The text, and what follows the `mcp` before a server's name. A server may itself be called `mcp_x`. */
function withoutPrefix(text: string): string[] {
  const given = text.trim()
  return [...new Set([given.replace(/^mcp(?:__|[_./:])/i, ''), given])]
}

function splits(text: string, separator: RegExp): Pair[] {
  const pairs = [...text.matchAll(separator)].flatMap(({ index, 1: found = '' }) => {
    const tool = text.slice(index + found.length)
    return index === 0 || tool === '' ? [] : [{ server: text.slice(0, index), tool }]
  })
  return [...pairs, { server: text, tool: '*' }]
}

function compile(given: Pair[], isStrict: boolean): Target {
  const readings = isStrict ? given.map(({ server, tool }) => ({ server: server.trim(), tool: tool.trim() })) : given
  const plain = readings.map((pair) => ({ server: plainName(pair.server), tools: plainTools(pair.tool) }))
  const isOneName = plain.every(({ server }) => !server.includes('*'))
  return {
    readings,
    indexedServers: isOneName ? [...new Set(plain.map(({ server }) => server))] : undefined,
    matches: isStrict
      ? (server, tool) => {
          const [plainServer, forms] = [plainName(server), plainTools(tool)]
          return plain.some(
            (one) =>
              fitsGlob(one.server, plainServer) && forms.some((form, which) => fitsGlob(one.tools[which]!, form)),
          )
        }
      : (server, tool) => readings.some((one) => fitsGlob(one.server, server) && fitsGlob(one.tool, tool)),
  }
}
