// Which servers a cell's source names, so that they can be started while its sandbox is. A name in a comment or a string counts, too: the worst
// that comes of it is a server that runs without need. Pure.
import type { OtherLanguage, VisibleServer } from '../protocol/frames.ts'

/** Source beyond this is not looked at: it is data. */
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

/** Those of `servers` that `code` reaches by one of the ways that its language has: `mcp_github`, `mcp_servers["github"]` and so on. */
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
