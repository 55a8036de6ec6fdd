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
