// All sources of server definitions, in order of precedence: the first one to define a name keeps it.
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { geminiCli, qwenCode } from './gemini-cli.ts'
import { goose } from './goose.ts'
import { opencode } from './opencode.ts'
import { configMcp, mcpServers, mcps, serversConfig } from './own-places.ts'
import type { Reader } from './reader.ts'
import { amp, antigravity, claudeDesktop, cline, copilotCli, cursor, kiro, lmStudio, windsurf } from './shared-shape.ts'
import { vscode } from './vscode.ts'
import { zed } from './zed.ts'

export const READERS: readonly Reader[] = [
  mcps,
  serversConfig,
  configMcp,
  claudeCode,
  claudeDesktop,
  cursor,
  vscode,
  windsurf,
  codex,
  geminiCli,
  opencode,
  zed,
  antigravity,
  goose,
  cline,
  copilotCli,
  kiro,
  amp,
  lmStudio,
  qwenCode,
  mcpServers,
]

/** The names that MCP_BRIDGE_SOURCES accepts. */
export const SOURCE_NAMES: readonly string[] = READERS.map((reader) => reader.client)

/**
 * Selects readers by a list of names: the named ones, or all with `all` or with only `-name`s, without every `-name`.
 */
export function chosenReaders(sources: readonly string[]): Reader[] {
  const named = sources.filter((source) => !source.startsWith('-'))
  const all = named.length === 0 || named.includes('all')
  return READERS.filter(({ client }) => (all || named.includes(client)) && !sources.includes(`-${client}`))
}
