// The settings of the resident bridge.
import { choice, seconds, DAY_S } from '@sandbridge/core/config/settings/setting-kinds.ts'

export const RESIDENT_SETTINGS = {
  resident: choice(
    {
      variable: 'MCP_BRIDGE_RESIDENT',
      key: 'mode',
      meaning:
        '`on`: your clients share one resident bridge. Not where `CI` is set. On Windows, in sandboxes of Linux, and in containers that filter system calls or have users of their own, only if the variable is set.',
    },
    ['on', 'off'],
    'on',
  ),
  residentIdleMs: seconds(
    {
      variable: 'MCP_BRIDGE_RESIDENT',
      member: 'idle',
      key: 'idle',
      meaning: 'How long a resident bridge waits for the next client after the last one has gone.',
    },
    { default: 600, min: 0, max: DAY_S },
  ),
} as const
