// How a client reaches the tools of its servers.
import { choice, setting } from '@sandbridge/core/config/settings'

export const DIRECT_SETTINGS = {
  toolMode: setting(
    'servers.tools',
    'MCP_BRIDGE_TOOLS',
    'What a client lists: `code` is run_python; `search` is two tools that find and call others; `direct` is every tool of every server.',
    choice(['code', 'search', 'direct'], 'code'),
    { ofClient: true },
  ),
} as const
