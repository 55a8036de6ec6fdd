// The settings in force, each with its value and its source, for `sandbridge config` and the page.
import { givenValues, namedSettings, processContext, readSettings } from '@sandbridge/core/config/settings'
import { readSettingsFile, settingContext, settingsFile, withoutCredentials } from '@sandbridge/core/config/settings'
import type { Environment, Machine } from '@sandbridge/core/config/settings'

export interface DescribedSetting {
  name: string
  variable: string
  heading: string
  meaning: string
  allowed: string
  /** As a variable would hold it; a secret is not shown. */
  value: string
  source: 'default' | 'file' | 'variable'
  /** File, line and column; or the variable. Missing for a default. */
  place?: string
  /** Not in settings.json. */
  onlyVariable?: string
  /** A change of the file takes effect with the next cell. */
  isLive: boolean
}

export interface DescribedSettings {
  file: string
  settings: DescribedSetting[]
  warnings: readonly string[]
}

/** @throws BridgeError CONFIG_INVALID as `loadSettings` does */
export async function describeSettings(
  env: Environment = processContext().env,
  machine: Machine = {},
  file = settingsFile(settingContext(env, machine)),
): Promise<DescribedSettings> {
  const context = settingContext(env, machine)
  const found = await readSettingsFile(file, context)
  const all = namedSettings()
  const { setBy, implied, warnings } = readSettings(env, machine, found)
  const { values } = givenValues(all, env, found)
  const settings = all.map((one): DescribedSetting => {
    const { name, variable, heading, meaning, allowed, defaultText, onlyVariable, isLive = false, secret } = one
    const from = setBy[variable]
    const about = { name, variable, heading, meaning, allowed, isLive, ...(onlyVariable && { onlyVariable }) }
    if (from === undefined) return { ...about, value: implied[variable] ?? defaultText, source: 'default' }
    const source = from === variable ? 'variable' : 'file'
    const place = source === 'file' ? from.slice(0, from.lastIndexOf(': ')) : from
    const said = [values.get(variable)?.value].flat().join(', ')
    return { ...about, value: secret ? HIDDEN : (implied[variable] ?? withoutCredentials(said)), source, place }
  })
  return { file, settings, warnings }
}

const HIDDEN = '(set, not shown)'
