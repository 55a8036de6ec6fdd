// Starts the servers that a cell is likely to call, while the cell waits for its sandbox.
import type { ConnectedServers } from './connect-servers.ts'
import type { OtherLanguage } from '../../config/settings/cells.ts'
import type { VisibleServer } from '../../cell/protocol/frames.ts'

/**
 * Starts those that do not run. A failure shows when the cell calls the server.
 * @param enter requests that a server sends as soon as it runs go to the client of the cell, until it is left again
 * @returns a controller that ends the wait for them; undefined when no server is started
 */
export function startServers(
  named: readonly { name: string }[],
  { catalog, upstreams }: Pick<ConnectedServers, 'catalog' | 'upstreams'>,
  enter: (server: string, signal: AbortSignal) => () => void,
): AbortController | undefined {
  const broken = new Set(catalog.servers().flatMap(({ name, problem }) => (problem === undefined ? [] : [name])))
  const starting = named.filter(({ name }) => !broken.has(name) && upstreams.of(name).state === 'not-started')
  if (starting.length === 0) return undefined
  const over = new AbortController()
  const { signal } = over
  for (const { name } of starting) {
    const start = async () => {
      // Through the catalog if it knows nothing yet, so that it also reads resources and prompts.
      await catalog.tools(name, signal)
      await (catalog.of(name).isRecent ? upstreams.start(name, signal) : upstreams.listTools(name, signal))
    }
    const leave = enter(name, signal)
    start()
      .catch(() => {})
      .finally(leave)
  }
  return over
}

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
