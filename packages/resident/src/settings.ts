// The settings of the resident bridge.
import { choice, DAY_S, seconds, setting } from '@sandbridge/core/config/settings/setting-kinds.ts'

export const RESIDENT_SETTINGS = {
  resident: setting(
    'resident.mode',
    'MCP_BRIDGE_RESIDENT',
    '`on`: your clients share one resident bridge. Not where `CI` is set. On Windows, in sandboxes of Linux, and in containers that filter system calls or have users of their own, only if the variable is set.',
    choice(['on', 'off'], 'on'),
  ),
  residentIdleMs: setting(
    'resident.idle',
    'MCP_BRIDGE_RESIDENT=idle',
    'How long a resident bridge waits for the next client after the last one has gone.',
    seconds({ standard: 600, min: 0, max: DAY_S }),
  ),
} as const
