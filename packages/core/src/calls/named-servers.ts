// Finds the servers that a cell's source names, so that they start while the sandbox starts. Names in comments and
// strings count, too: at worst a server starts that is not needed. Pure.
import type { OtherLanguage } from '../config/settings/cells.ts'
import type { VisibleServer } from '../cell/protocol/frames.ts'

/** Longer source is mostly data and is not searched. */
const MAX_SOURCE = 200_000

// Every character beyond ASCII counts as a letter: a pattern with \p{L} takes two milliseconds to compile.
const WAYS = [
  /\bmcp_([\w\x80-\uffff]+)/g,
  /\bmcp\.servers\.([\w\x80-\uffff]+)/g,
  /\bfrom\s+mcp\.servers\s+import\s+([\w\x80-\uffff]+)/g,
  /\b(?:mcp_servers\s*\[|call_tool(?:_sync)?\s*\()\s*["']([^"'\n]{1,200})["']/g,
]

const OTHER_WAYS: Record<OtherLanguage, RegExp[]> = {
  bash: [/\bmcp[ \t]+["']?([^\s"'$`;|&<>(){}\\]{1,200})/g],
  javascript: [
    /\bmcp_([\w\x80-\uffff]+)/g,
    /(?<![\w\x80-\uffff$.])([A-Za-z_\x80-\uffff][\w\x80-\uffff]{0,200})\./g,
    /\b(?:mcp_servers\s*\[|callTool\s*\(|tools\.\w+\s*\()\s*["'`]([^"'`\n]{1,200})["'`]/g,
  ],
}

/** The servers that `code` reaches in a way of its language: `mcp_github`, `mcp_servers["github"]` and so on. */
export function namedServers(
  code: string,
  servers: readonly VisibleServer[],
  language?: OtherLanguage,
): VisibleServer[] {
  const source = code.slice(0, MAX_SOURCE)
  const ways = language === undefined ? WAYS : OTHER_WAYS[language]
  const named = new Set(ways.flatMap((way) => [...source.matchAll(way)].map((match) => match[1]!)))
  return servers.filter(({ name, alias }) => named.has(alias) || named.has(name))
}
