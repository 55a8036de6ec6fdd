// Turns any name a server may use into a Python identifier, without two names becoming one.
// The same set of names gives the same identifiers, in whatever order a server lists them. Pure.

const KEYWORDS = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global ' +
    'if import in is lambda nonlocal not or pass raise return try while with yield __debug__'
  ).split(' '),
)

/** Longest identifier, in UTF-16 units: what the MCP specification allows a tool name (2025-11-25, Tools). */
const MAX_LENGTH = 128

/** Is `text` a word that Python does not accept as a name? `__debug__` is one although no keyword: it cannot be a parameter. */
export function isPythonKeyword(text: string): boolean {
  return KEYWORDS.has(text)
}

/** Is `text` an ASCII identifier that can stand in Python source as it is? */
export function isPlainIdentifier(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) && !KEYWORDS.has(text)
}

/**
 * A Python identifier for `name`: what Python would not take becomes `_`, a leading digit gets a `_`, a keyword a trailing `_`.
 * Letters of other scripts stay, in the NFKC form to which Python itself brings every identifier.
 * @param fallback the identifier when nothing of the name is left
 */
export function pythonName(name: string, fallback: string): string {
  if (/^[A-Za-z]\w{0,127}$/.test(name) && !KEYWORDS.has(name)) return name
  const normal = name.slice(0, MAX_LENGTH).normalize('NFKC')
  let result = ''
  for (const char of normal) result += isIdentifierCharacter(char) ? char : '_'
  // A name that is only `_` and one like `__init__` would get in the way of Python's own attributes.
  if (/^_+$/.test(result) || /^__.*__$/.test(result)) result = result.replace(/^_+|_+$/g, '')
  // The normal form of one character can be many.
  result = result.slice(0, MAX_LENGTH).normalize('NFKC')
  if (result === '') return fallback
  if (!/^[\p{XID_Start}_]/u.test(result)) result = `_${result}`
  return KEYWORDS.has(result) ? `${result}_` : result
}

/**
 * Identifiers for all names of one namespace, as true name → identifier. A name that is an identifier already keeps it; the others
 * that would take the same one are numbered `_2`, `_3` … in the order of their true names.
 * @param taken identifiers that are already used; the new ones are added
 */
export function pythonNames(
  names: Iterable<string>,
  fallback: string,
  toName: (name: string, fallback: string) => string = pythonName,
  taken = new Set<string>(),
): Map<string, string> {
  const result = new Map<string, string>()
  const others: string[] = []
  for (const name of [...new Set(names)].toSorted(byCodeUnit)) {
    if (toName(name, fallback) !== name || taken.has(name)) {
      others.push(name)
      continue
    }
    result.set(name, name)
    taken.add(name)
  }
  const next = new Map<string, number>()
  for (const name of others) {
    const base = toName(name, fallback)
    let candidate = base
    for (let number = next.get(base) ?? 2; taken.has(candidate); number += 1) {
      candidate = `${base}_${number}`
      next.set(base, number + 1)
    }
    result.set(name, candidate)
    taken.add(candidate)
  }
  return result
}

/** The alias of a server, as in `mcp_<alias>`: lower case, as the system that this re-creates has it. */
export function serverAlias(name: string, fallback: string): string {
  return pythonName(name.toLowerCase(), fallback)
}

/** The aliases of all servers, as true name → alias. The names of an earlier group have the first choice. */
export function serverAliases(groups: readonly string[][]): Map<string, string> {
  const taken = new Set<string>()
  return new Map(groups.flatMap((names) => [...pythonNames(names, 'server', serverAlias, taken)]))
}

/**
 * What is left of a name when case, width and separators do not count: `createIssue`, `create-issue` and `ｃｒｅａｔｅ_issue` are one.
 * Upper case comes first because it parts what lower case leaves together: `ß` is `SS`.
 */
export function foldName(name: string): string {
  return name
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}]/gu, '')
}

/** The order of names that does not depend on the machine's language. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function isIdentifierCharacter(char: string): boolean {
  const code = char.codePointAt(0)!
  if (code < 0x80) return /\w/.test(char)
  return inOldUnicode(code) && code !== MIDDLE_DOT && /\p{XID_Continue}/u.test(char)
}

/** Katakana's: part of identifiers since Unicode 15.1, which older Pythons do not know. */
const MIDDLE_DOT = 0x30fb

/** Blocks whose letters every supported Python (3.10 knows Unicode 13) and every Node agree on. */
function inOldUnicode(code: number): boolean {
  return (
    code < 0x870 ||
    (code >= 0x900 && code < 0xc00) ||
    (code >= 0xe00 && code < 0xf00) ||
    (code >= 0x1e00 && code < 0x2000) ||
    (code >= 0x3040 && code < 0x3100) ||
    (code >= 0x4e00 && code < 0x9ff0) ||
    (code >= 0xac00 && code < 0xd7a4)
  )
}
