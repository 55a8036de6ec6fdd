// How a client reaches the tools of its servers.
import { choice, setting } from '@sandbridge/core/config/settings'

export const DIRECT_SETTINGS = {
  toolMode: setting(
    'servers.tools',
    'MCP_BRIDGE_TOOLS',
    'Which tools a client lists: run_python (`code`), two that search and call tools (`search`), or every tool (`direct`).',
    choice(['code', 'search', 'direct'], 'code'),
    { ofClient: true },
  ),
} as const
