// The settings of the resident bridge.
import { choice, DAY_S, seconds, setting } from '@sandbridge/core/config/settings'

export const RESIDENT_SETTINGS = {
  resident: setting(
    'resident.mode',
    'MCP_BRIDGE_RESIDENT',
    'Whether your clients share one bridge in the background: see docs/resident.md.',
    choice(['on', 'off'], 'on'),
  ),
  residentIdleMs: setting(
    'resident.idle',
    'MCP_BRIDGE_RESIDENT=idle',
    'How long the shared bridge (resident) stays after its last client.',
    seconds({ standard: 600, min: 0, max: DAY_S }),
  ),
} as const
