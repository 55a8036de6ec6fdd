// Checks that the config files that were read define any servers, and that rules match.
import type { OpenTenant } from '@sandbridge/core/bridge'
import { unreadFiles } from '@sandbridge/core/config'
import type { Finding } from '@sandbridge/core/serve/cli'

/** Files that cannot be read or parsed. */
export function checkUnread({ discovered }: Pick<OpenTenant, 'discovered'>): Finding[] {
  return unreadFiles(discovered.skipped).map((message) => ({ check: 'unread', level: 'warning', message }))
}

/** Rules that were meant to stop calls, and match no tool. An `allow` rule without a match does no harm. */
export function checkRules({ rules }: Pick<OpenTenant, 'rules'>): Finding[] {
  const stopping = rules.unmatched().filter(({ verdict }) => verdict !== 'allow')
  const advice = 'Correct or remove it.'
  return stopping.map(({ message }) => ({ check: 'permissions', level: 'warning', message, advice }))
}

/**
 * Clients' files without servers are common. The user's own files, and one that a setting names, exist only for
 * servers.
 */
export function checkSources({ discovered, settings }: Pick<OpenTenant, 'discovered' | 'settings'>): Finding[] {
  const withEntries = new Set(discovered.skipped.map(({ file }) => file))
  const empty = discovered.files.filter(({ file, serverCount }) => serverCount === 0 && !withEntries.has(file))
  return empty.map(({ client, file }): Finding => {
    const isNamed = settings.serversConfig.includes(file)
    return {
      check: 'sources',
      level: isNamed ? 'warning' : 'ok',
      message: `${file} (${client}) defines no server.`,
      advice: isNamed
        ? 'MCP_SERVERS_CONFIG names it: add servers under "mcpServers", or correct the setting.'
        : 'Nothing to do, unless servers should be there: see `sandbridge servers --sources`.',
    }
  })
}
