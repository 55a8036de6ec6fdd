// Settings of what cells may do.
import { FLOW_PRESETS } from '../rules/flow.ts'
import { PRESETS } from '../rules/presets.ts'
import { choice, seconds } from './setting-kinds.ts'

export const PERMISSION_SETTINGS = {
  permissions: choice(
    {
      variable: 'MCP_BRIDGE_PERMISSIONS',
      key: 'preset',
      isLive: true,
      meaning:
        'Calls that no rule matches: `open` allows them, `careful` asks unless the tool is read-only, `readonly` denies them unless the tool is read-only.',
    },
    PRESETS,
    'open',
  ),
  flow: choice(
    {
      variable: 'MCP_BRIDGE_FLOW',
      meaning:
        'Calls that are not marked read-only and whose destination came from a server, or that follow text of a server: `ask` asks about them, `deny` denies them, `record` only records where values come from.',
    },
    FLOW_PRESETS,
    'off',
  ),
  askTimeoutMs: seconds(
    {
      variable: 'MCP_BRIDGE_ASK_TIMEOUT',
      meaning: 'How long the user has to answer a question about a call. No answer is a no.',
    },
    { default: 300, min: 5, max: 3600 },
  ),
} as const
