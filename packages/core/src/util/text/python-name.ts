// Converts server names to Python identifiers: different names to different ones, in whatever order. Pure.

const KEYWORDS = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global ' +
    'if import in is lambda nonlocal not or pass raise return try while with yield __debug__'
  ).split(' '),
)

/** Longest identifier in UTF-16 units: the MCP specification's limit for a tool name (2025-11-25, Tools). */
const MAX_LENGTH = 128

/** True if Python does not accept `text` as a name, or not as a parameter (`__debug__`). */
export function isPythonKeyword(text: string): boolean {
  return KEYWORDS.has(text)
}

/** True if `text` is an ASCII identifier that can be used in Python source as it is. */
export function isPlainIdentifier(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) && !KEYWORDS.has(text)
}

/**
 * Returns a Python identifier for `name`: invalid characters become `_`, a leading digit is preceded by `_`, a keyword
 * is followed by `_`. Letters of other scripts stay, in NFKC form, to which Python itself normalises identifiers.
 * @param fallback the identifier if nothing of the name is left
 */
export function pythonName(name: string, fallback: string): string {
  if (/^[A-Za-z]\w{0,127}$/.test(name) && !KEYWORDS.has(name)) return name
  const normal = name.slice(0, MAX_LENGTH).normalize('NFKC')
  let result = ''
  for (const char of normal) result += isIdentifierCharacter(char) ? char : '_'
  // Names that are only `_` or like `__init__` would conflict with Python's own attributes.
  if (/^_+$/.test(result) || /^__.*__$/.test(result)) result = result.replace(/^_+|_+$/g, '')
  // One character may normalise to many.
  result = result.slice(0, MAX_LENGTH).normalize('NFKC')
  if (result === '') return fallback
  if (!/^[\p{XID_Start}_]/u.test(result)) result = `_${result}`
  return KEYWORDS.has(result) ? `${result}_` : result
}

/**
 * Returns identifiers for all names of a namespace, as original name → identifier. A name that is already an identifier
 * keeps it; other names that map to the same one are numbered `_2`, `_3` … in the order of their original names.
 * @param taken identifiers in use; the new ones are added
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

/** Returns a server's alias, as in `mcp_<alias>`: lower case, as in the system that this one re-creates. */
export function serverAlias(name: string, fallback: string): string {
  return pythonName(name.toLowerCase(), fallback)
}

/** Returns the aliases of all servers, as original name → alias. Earlier groups choose first. */
export function serverAliases(groups: readonly string[][]): Map<string, string> {
  // `mcp_servers` holds all servers.
  const taken = new Set<string>(['servers'])
  return new Map(groups.flatMap((names) => [...pythonNames(names, 'server', serverAlias, taken)]))
}

/** A name without case, width and separators: `createIssue`, `create-issue`. Upper case merges more (`ß`, `SS`). */
export function foldName(name: string): string {
  return name
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}]/gu, '')
}

/** Sort order of names, independent of the machine's language. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function isIdentifierCharacter(char: string): boolean {
  const code = char.codePointAt(0)!
  if (code < 0x80) return /\w/.test(char)
  return inOldUnicode(code) && code !== MIDDLE_DOT && /\p{XID_Continue}/u.test(char)
}

/** Katakana middle dot: allowed in identifiers since Unicode 15.1, but not in older Pythons. */
const MIDDLE_DOT = 0x30fb

/** Blocks whose letters are the same in every supported Python (3.10 has Unicode 13) and every Node. */
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

/** Parts words by spaces where only a capital does. */
export function withSpaces(name: string): string {
  return name.replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
}

/** In lower case. */
export function nameWords(name: string): string[] {
  return withSpaces(name)
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}
