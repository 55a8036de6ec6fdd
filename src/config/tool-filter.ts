// Which tools of a server its definition lets through. Pure.
import type { ServerDefinition } from './server-definition.ts'

/** Whether a tool may be seen and called. `*` in a listed name stands for any text; being excluded wins over being included. */
export function allowsTool({ tools }: Pick<ServerDefinition, 'tools'>, tool: string): boolean {
  if (tools?.exclude?.some((pattern) => matches(pattern, tool))) return false
  return tools?.include?.some((pattern) => matches(pattern, tool)) ?? true
}

function matches(pattern: string, tool: string): boolean {
  const parts = pattern.split('*')
  if (parts.length === 1) return pattern === tool
  const [first = ''] = parts
  const last = parts.at(-1) ?? ''
  if (!tool.startsWith(first) || !tool.endsWith(last) || tool.length < first.length + last.length) return false
  // Leftmost match of each part in turn: no backtracking, however hostile the pattern.
  let from = first.length
  const end = tool.length - last.length
  for (const part of parts.slice(1, -1)) {
    const at = tool.indexOf(part, from)
    if (at === -1 || at + part.length > end) return false
    from = at + part.length
  }
  return true
}
