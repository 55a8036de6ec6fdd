// Which environment variables change no setting: each says what settings.json or the default says.
import { isDeepStrictEqual } from 'node:util'
import { namedSettings, readSettings, readSettingsFile, settingContext } from '@sandbridge/core/config/settings'
import { settingsFile, variableOf } from '@sandbridge/core/config/settings'
import type { ClientContext } from '@sandbridge/core/config/settings'

/** It decides about `servers.load`, which follows settings.json in a running bridge. */
const COMPAT = 'MCP_BRIDGE_COMPAT'

/**
 * A variable of a setting that follows settings.json in a running bridge is never one: it wins when the file changes.
 * @throws BridgeError CONFIG_INVALID as `loadSettings` does
 */
export async function idleVariables({ env, home }: Pick<ClientContext, 'env' | 'home'>): Promise<string[]> {
  const context = settingContext(env, { home })
  // A relay has loaded no features.
  const file = await readSettingsFile(settingsFile(context), context, undefined, false)
  const all = namedSettings()
  const given = [...new Set(all.map(variableOf))].filter((name) => env[name]?.trim())
  const withAll = readSettings(env, { home }, file)
  const without = (names: readonly string[]): typeof withAll =>
    readSettings({ ...env, ...Object.fromEntries(names.map((name) => [name, undefined])) }, { home }, file)
  const values = (from: typeof withAll): unknown => ({ ...from, warnings: [], setBy: {}, implied: {} })
  const isLive = (name: string): boolean => name === COMPAT || all.some((one) => variableOf(one) === name && one.isLive)
  const alone = given.filter((name) => !isLive(name) && isDeepStrictEqual(values(without([name])), values(withAll)))
  // Two may each change nothing only beside the other.
  return isDeepStrictEqual(values(without(alone)), values(withAll)) ? alone : []
}
