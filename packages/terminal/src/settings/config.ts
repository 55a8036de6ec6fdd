// `sandbridge config`: lists the settings in force and where each was set, changes settings.json, checks it.
import { text as readAll } from 'node:stream/consumers'
import { loadSettings, settingContext, settingsFile } from '@sandbridge/core/config/settings'
import { describeSettings } from '@sandbridge/shared/describe-settings.ts'
import { editSetting, findSetting } from './edit-settings.ts'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { count } from '@sandbridge/core/util/text'
import { type Cell, print, printJson, printSummary, printTable } from '@sandbridge/core/serve/cli/terminal'

const STYLES = { default: 'dim', file: 'green', variable: 'yellow' } as const

interface ConfigOptions {
  json?: boolean
  remove?: string
  check?: boolean
  path?: boolean
}

/** @param value `-` reads it from standard input, so that no other program sees a secret */
export async function config(
  name: string | undefined,
  value: string | undefined,
  options: ConfigOptions,
): Promise<void> {
  if (options.path) printSettingsPath(options)
  else if (options.check) await checkSettingsFile(options)
  else if (options.remove !== undefined) await change(findSetting(options.remove), undefined, options)
  else if (name === undefined || value === undefined) await listSettings(options, name && findSetting(name).name)
  else await change(findSetting(name), value === '-' ? (await readAll(process.stdin)).trim() : value, options)
}

/** @param only this one */
async function listSettings({ json }: ConfigOptions, only: string | undefined): Promise<void> {
  const all = await describeSettings()
  const described = only === undefined ? all : { ...all, settings: all.settings.filter(({ name }) => name === only) }
  if (json) return printJson(described)
  const { settings, file, warnings } = described
  printTable(
    settings.map(({ name, value, source, place, onlyVariable, variable }): Cell[] => [
      { text: onlyVariable === undefined ? name : variable, style: 'cyan' },
      source === 'default' ? { text: value, style: 'dim' } : value,
      { text: source === 'file' ? place!.replace(file, 'settings.json') : (place ?? source), style: STYLES[source] },
    ]),
    { head: ['SETTING', 'VALUE', 'FROM'] },
  )
  if (only !== undefined) return
  for (const warning of warnings) print(warning)
  const set = settings.filter(({ source }) => source !== 'default').length
  printSummary(`${count(settings.length, 'setting')}, ${set} not the default. Change one: sandbridge config NAME VALUE`)
}

async function change(
  named: ReturnType<typeof findSetting>,
  value: string | undefined,
  { json }: ConfigOptions,
): Promise<void> {
  const { name, secret, isLive } = named
  const { file, isChanged } = await editSetting(named, value, settingContext(process.env))
  if (json) return printJson({ name, file })
  if (value === undefined && !isChanged) return print(`${name} is not set in ${file}.`)
  const shown = secret ? '' : ` to ${value}`
  print(value === undefined ? `Removed ${name} from ${file}.` : `Set ${name}${shown} in ${file}.`)
  const since = isLive ? 'Bridges that run have it with their next cell.' : 'Bridges that start from now on have it.'
  const { place = '' } = (await describeSettings()).settings.find((one) => one.name === name) ?? {}
  printSummary(place.startsWith('MCP_') ? `${place} is set in this environment, and wins.` : since)
}

function printSettingsPath({ json }: ConfigOptions): void {
  const file = settingsFile(settingContext(process.env))
  if (json) printJson({ file })
  else print(file)
}

/** Sets the exit code to 1 when a setting is invalid. */
async function checkSettingsFile({ json }: ConfigOptions): Promise<void> {
  const file = settingsFile(settingContext(process.env))
  const problems: string[] = []
  let warnings: readonly string[] = []
  try {
    warnings = (await loadSettings()).warnings
  } catch (error) {
    if (!BridgeError.isInstance(error)) throw error
    problems.push(...error.message.split('\n'))
    process.exitCode = 1
  }
  if (json) return printJson({ file, problems, warnings })
  for (const line of [...problems, ...warnings]) print(line)
  if (problems.length === 0) print(`${file} and the environment variables are valid.`)
}
