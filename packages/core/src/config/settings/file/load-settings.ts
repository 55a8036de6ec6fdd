// The settings of this process: its variables, and settings.json of the user. A project has no such file.
import { type Environment, processContext } from '../client-context.ts'
import { statSync } from 'node:fs'
import path from 'node:path'
import { type ConfigFileSystem, nodeFileSystem, readFileOrLink } from '../../config-file.ts'
import { SETTINGS_FILE } from '../../readers/own-places.ts'
import { FOLDER_SETTINGS } from '../folders-and-record.ts'
import type { FileSettings } from '../given-texts.ts'
import { parse, type SettingContext } from '../setting-kinds.ts'
import { unquoted } from '../../../util/files/absolute-path.ts'
import { type Machine, namedSettings, readSettings, type Settings, settingContext } from '../settings.ts'

/** Thousands of times what all settings take. */
const MAX_CHARS = 2 ** 20

/** Reads all settings. @throws BridgeError CONFIG_INVALID as `readSettings` does; with line and column in the file */
export async function loadSettings(env: Environment = processContext().env, machine: Machine = {}): Promise<Settings> {
  const context = settingContext(env, machine)
  return readSettings(env, machine, await readSettingsFile(settingsFile(context), context))
}

export function settingsFile(context: SettingContext): string {
  const { stateDir } = FOLDER_SETTINGS
  const set = unquoted(context.env[stateDir.variable] ?? '')
  return path.join(parse(stateDir, set, context) ?? stateDir.whenMissing(context), SETTINGS_FILE)
}

/** Never throws: a file that cannot be used has problems. */
export async function readSettingsFile(
  file: string,
  context: SettingContext,
  fileSystem: ConfigFileSystem = nodeFileSystem,
): Promise<FileSettings> {
  const read = await readFileOrLink(fileSystem, file)
  if ('absent' in read) return { values: new Map(), problems: [], warnings: [] }
  const reason = 'reason' in read ? read.reason : read.text.length > MAX_CHARS ? 'is larger than 1 MiB' : undefined
  if (reason !== undefined || 'reason' in read)
    return { values: new Map(), problems: [`${file} ${reason}`], warnings: [] }
  // The parser is loaded only if there is a file.
  const { checkSettings } = await import('./check-file.ts')
  const found = checkSettings(read.text, file, context)
  return { ...found, warnings: modeWarnings(file, found, context) }
}

/** Other users may be able to read secrets, or to change settings. */
function modeWarnings(file: string, { values }: FileSettings, { platform }: SettingContext): string[] {
  if (platform === 'win32') return []
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
  const remedy = `Run \`chmod 600 ${file}\`.`
  if ((mode & 0o002) !== 0) return [`Every user of this machine can change ${file}. ${remedy}`]
  const secret = namedSettings().find((one) => one.secret && values.has(one.variable))
  return secret && (mode & 0o044) !== 0
    ? [`Other users of this machine can read ${secret.name} in ${file}. ${remedy}`]
    : []
}
