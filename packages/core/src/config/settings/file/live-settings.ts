// The settings of a bridge that runs: those that can take effect at once follow settings.json.
import { isDeepStrictEqual } from 'node:util'
import { nodeFileSystem } from '../../config-file.ts'
import { PlacesSeen } from '../../places-seen.ts'
import { type Environment, processContext } from '../client-context.ts'
import { type Machine, namedSettings, readSettings, type Settings, settingContext } from '../settings.ts'
import { readSettingsFile, settingsFile } from './load-settings.ts'

export interface LiveSettings {
  /** Settings that are live have their value as of the last refresh; all others keep the value of the start. */
  settings: Settings
  /**
   * Reads settings.json again if it may have changed. Cheap enough for every cell.
   * @returns one sentence for each changed setting that takes effect at the next start
   * @throws BridgeError CONFIG_INVALID while the file is invalid: as with rules, a mistake must not loosen anything
   */
  refresh: () => Promise<string[]>
}

/** @throws BridgeError CONFIG_INVALID as `loadSettings` does */
export async function loadLiveSettings(
  env: Environment = processContext().env,
  machine: Machine = {},
): Promise<LiveSettings> {
  const context = settingContext(env, machine)
  const file = settingsFile(context)
  let seen = new PlacesSeen()
  let isRead = false
  const read = async (): Promise<Settings> => {
    isRead = false
    seen = new PlacesSeen()
    const settings = readSettings(env, machine, await readSettingsFile(file, context, seen.noting(nodeFileSystem)))
    isRead = true
    return settings
  }

  let current = await read()
  let reading: Promise<string[]> | undefined
  const readAgain = async (): Promise<string[]> => {
    const before = current
    current = await read()
    return namedSettings()
      .filter(({ property, isLive }) => !isLive && !isDeepStrictEqual(at(before, property), at(current, property)))
      .map(({ name }) => `${name} has changed in ${file}. It takes effect when the bridge is started again.`)
  }
  const settings: Settings = { ...current }
  for (const { property, isLive } of namedSettings()) {
    if (isLive) Object.defineProperty(settings, property, { get: () => at(current, property), enumerable: true })
  }
  return {
    settings: Object.freeze(settings),
    refresh: async () => {
      if (reading === undefined && isRead && !seen.hasChanged()) return []
      if (reading) return reading.then(() => [])
      reading = readAgain().finally(() => (reading = undefined))
      return reading
    },
  }
}

const at = (settings: Settings, property: string): unknown => (settings as unknown as Record<string, unknown>)[property]
