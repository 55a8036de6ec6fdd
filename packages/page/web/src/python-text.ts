// Writes values as Python source, for cells that the page makes. Pure.
import { pythonLiteral } from '@sandbridge/core/calls/catalog/signature/python-literal.ts'
import { isPlainIdentifier } from '@sandbridge/core/util/text'

/** A cell that calls a tool. */
export function callCode(serverAlias: string, tool: string, args: Record<string, unknown>): string {
  const names = Object.entries(args)
  const isPlain = names.every(([name]) => isPlainIdentifier(name))
  const given = isPlain
    ? names.map(([name, value]) => `${name}=${pythonLiteral(value, Infinity)}`).join(', ')
    : `**${pythonLiteral(args, Infinity)}`
  return `await mcp_${serverAlias}.${tool}(${given})`
}

/** What is wrong with a name for a tool, as a sentence. */
export function nameProblem(name: string): string | undefined {
  if (/^[A-Za-z]\w{0,63}$/.test(name) && isPlainIdentifier(name)) return undefined
  return 'A name has letters, digits and _ only, begins with a letter, and is not a keyword of Python.'
}
