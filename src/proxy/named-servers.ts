// Finds the servers that a cell's source names, so that they start while the sandbox starts. Names in comments and strings count, too: at worst
// a server starts that is not needed. Pure.
import type { OtherLanguage, VisibleServer } from '../protocol/frames.ts'

/** Longer source is mostly data and is not searched. */
const MAX_SOURCE = 200_000

const WAYS = [
  /\bmcp_([\p{L}\p{N}_]+)/gu,
  /\bmcp\.servers\.([\p{L}\p{N}_]+)/gu,
  /\bfrom\s+mcp\.servers\s+import\s+([\p{L}\p{N}_]+)/gu,
  /\b(?:mcp_servers\s*\[|call_tool(?:_sync)?\s*\()\s*["']([^"'\n]{1,200})["']/gu,
]

const OTHER_WAYS: Record<OtherLanguage, RegExp[]> = {
  bash: [/\bmcp[ \t]+["']?([^\s"'$`;|&<>(){}\\]{1,200})/gu],
  javascript: [
    /\bmcp_([\p{L}\p{N}_]+)/gu,
    /(?<![\p{L}\p{N}_$.])([\p{L}_][\p{L}\p{N}_]{0,200})\./gu,
    /\b(?:mcp_servers\s*\[|callTool\s*\(|tools\.\w+\s*\()\s*["'`]([^"'`\n]{1,200})["'`]/gu,
  ],
}

/** The servers that `code` reaches in one of the ways of its language: `mcp_github`, `mcp_servers["github"]` and so on. */
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
