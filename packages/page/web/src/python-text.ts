// Writes values as Python source, for cells that the page makes. Pure.

function pythonLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string' || typeof value === 'number') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`
  const entries = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${pythonLiteral(one)}`)
  return `{${entries.join(', ')}}`
}

/** A cell that calls a tool. */
export function callCode(serverAlias: string, tool: string, args: Record<string, unknown>): string {
  const names = Object.entries(args)
  const isPlain = names.every(([name]) => isPythonName(name))
  const given = isPlain
    ? names.map(([name, value]) => `${name}=${pythonLiteral(value)}`).join(', ')
    : `**${pythonLiteral(args)}`
  return `await mcp_${serverAlias}.${tool}(${given})`
}

function isPythonName(name: string): boolean {
  return /^[a-z_]\w*$/i.test(name) && !RESERVED.has(name)
}

/** What is wrong with a name for a tool, as a sentence. */
export function nameProblem(name: string): string | undefined {
  if (/^[A-Za-z]\w{0,63}$/.test(name) && isPythonName(name)) return undefined
  return 'A name has letters, digits and _ only, begins with a letter, and is not a keyword of Python.'
}

const RESERVED = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if import in is ' +
    'lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
)
