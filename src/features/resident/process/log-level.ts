// The level of a client's log: its own, and not in the key of its resident.
import type { Environment } from '../../../config/settings/client-context.ts'
import { readSettings, type Settings } from '../../../config/settings/settings.ts'
import type { LogLevel } from '../../../util/log.ts'

export function logLevelOf(env: Environment, settings: Settings): LogLevel {
  try {
    return readSettings({ MCP_BRIDGE_LOG_LEVEL: env['MCP_BRIDGE_LOG_LEVEL'] }).logLevel
  } catch {
    return settings.logLevel
  }
}
