// The servers and tools that a rule names. Names that a person or a server's author could take for one another count as one where a rule makes
// things stricter, and as two where it makes them laxer. Pure.
import { fitsGlob } from '../text/glob.ts'

/** A server and a tool of it, or a pattern of each. */
interface Pair {
  server: string
  tool: string
}

export interface Target {
  /** Every way in which the rule can be read: a name may hold `__` itself. */
  readings: Pair[]
  /** The server's name as it is compared, where it is one name: rules are found by it. */
  indexedServers: string[] | undefined
  matches(server: string, tool: string): boolean
}

const MAX_CHARS = 512
const MAX_STARS = 8
/** They stand for something in other hosts' rules, which must not be passed over in silence. */
const FOREIGN = /[()[\]{}?|\\!,]/

/** @param isStrict the rule asks or denies */
export function targetOf({ server = '*', tool = '*' }: Partial<Pair>, isStrict: boolean): Target {
  return compile([{ server, tool }], isStrict)
}

/** A rule that is one text: `server`, `server__tool`, `*` in either part, with or without `mcp__` before it. */
export function parseTarget(text: string, isStrict: boolean): Target {
  const inner = text.replace(/^mcp__/, '')
  // A strict rule is for everything that it could mean, a lax one only for what it says first.
  const readings = isStrict ? [...splits(inner), ...(inner === text ? [] : splits(text))] : splits(inner).slice(0, 1)
  return compile(readings, isStrict)
}

/** A rule in a server's own definition: a tool, also with the server's name before it. */
export function parseOwnTarget(text: string, server: string, isStrict: boolean): Target {
  const prefix = [`mcp__${server}__`, `${server}__`].find((one) => text.startsWith(one)) ?? ''
  return compile([{ server, tool: text.slice(prefix.length) }], isStrict)
}

/** What is wrong with a pattern, if anything. */
export function patternProblem(pattern: string, isWholeRule: boolean): string | undefined {
  if (pattern.trim() === '') return 'is empty'
  if (pattern.length > MAX_CHARS) return `is longer than ${MAX_CHARS} characters`
  if (pattern.split('*').length - 1 > MAX_STARS || pattern.includes('***')) return `has more than ${MAX_STARS} *`
  if (/\p{Cc}/u.test(pattern)) return 'holds a control character'
  if (!isWholeRule) return undefined
  const [found] = FOREIGN.exec(pattern) ?? []
  if (found !== undefined)
    return `holds ${found}, which means nothing here: write server or server__tool, with * for any text`
  const [first, ...others] = pattern.replace(/^mcp__/, '').split('__')
  return first === '' || (others.length > 0 && others.join('__') === '') ? 'names no server or no tool' : undefined
}

/** A name without what is not seen or easily mistaken: Unicode forms, case, invisible characters, and which separators there are. */
export function plainName(name: string): string {
  return plainPiece(name).replace(/_+$/, '')
}

function plainPiece(text: string): string {
  return text
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/[^\p{L}\p{N}*]+/gu, '_')
}

function splits(text: string): Pair[] {
  const pairs: Pair[] = []
  for (let at = text.indexOf('__', 1); at !== -1; at = text.indexOf('__', at + 1)) {
    const tool = text.slice(at + 2)
    if (tool !== '') pairs.push({ server: text.slice(0, at), tool })
  }
  return pairs.length > 0 ? [...pairs, { server: text, tool: '*' }] : [{ server: text, tool: '*' }]
}

function compile(readings: Pair[], isStrict: boolean): Target {
  const plain = readings.map((pair) => ({ server: plainName(pair.server), tool: plainName(pair.tool) }))
  const isOneName = plain.every(({ server }) => !server.includes('*'))
  return {
    readings,
    indexedServers: isOneName ? [...new Set(plain.map(({ server }) => server))] : undefined,
    matches: isStrict
      ? (server, tool) => {
          const [plainServer, plainTool] = [plainName(server), plainName(tool)]
          return plain.some((one) => fitsGlob(one.server, plainServer) && fitsGlob(one.tool, plainTool))
        }
      : (server, tool) => readings.some((one) => fitsGlob(one.server, server) && fitsGlob(one.tool, tool)),
  }
}
