// Changes one setting in settings.json, under a lock and atomically. Comments and order are kept.
import { realpath, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { replaceFile, withFileLock } from '@sandbridge/core/util/files'
import { nearestName } from '@sandbridge/core/util/text'
import { nodeFileSystem, readFileOrLink } from '@sandbridge/core/config'
import { editDocument } from '@sandbridge/shared/edits/edit-document.ts'
import { checkSettings, groupOf, keyOf, namedSettings, notAllowed, parse } from '@sandbridge/core/config/settings'
import { settingNamed, settingsFile, unquoted } from '@sandbridge/core/config/settings'
import type { NamedSetting, SettingContext } from '@sandbridge/core/config/settings'

/** Names of settings, and of variables. @throws BridgeError TOOL_ARGUMENTS_INVALID with the nearest name */
export function findSetting(name: string): NamedSetting {
  const all = namedSettings()
  const found = settingNamed(name, all)
  if (found?.onlyVariable !== undefined) {
    const { variable, onlyVariable } = found
    throw refused(`${name} is set by the variable ${variable} only: ${onlyVariable}`, 'Set that variable.')
  }
  if (found) return found
  const namesOf = (one: NamedSetting): string[] => [one.name, one.variable, keyOf(one), groupOf(one)]
  const near = nearestName(name, all.flatMap(namesOf))
  const meant = near === undefined ? [] : all.filter((one) => namesOf(one).includes(near)).map((one) => one.name)
  throw refused(
    `${JSON.stringify(name.slice(0, 80))} is not a setting.${meant.length > 0 ? ` Did you mean ${meant.join(', ')}?` : ''}`,
    '`sandbridge config` lists the settings.',
  )
}

/**
 * @param text as in the variable; undefined removes the setting
 * @returns the path of the file, and whether it says something else now
 * @throws BridgeError TOOL_ARGUMENTS_INVALID for an invalid value, CONFIG_INVALID if the file cannot be edited,
 * STATE_UNWRITABLE if it cannot be written
 */
export async function editSetting(
  setting: NamedSetting,
  text: string | undefined,
  context: SettingContext,
): Promise<{ file: string; isChanged: boolean }> {
  const file = settingsFile(context)
  const folder = path.dirname(file)
  if (text !== undefined && parse(setting, text, context) === undefined)
    throw refused(`${setting.name}: ${notAllowed(setting, text)}`, 'Nothing was changed.')
  const value = text === undefined ? undefined : setting.read(unquoted(text))
  try {
    const isChanged = await withFileLock(path.join(folder, '.sandbridge', 'settings.lock'), async () => {
      const read = await readFileOrLink(nodeFileSystem, file)
      if ('reason' in read) throw invalid(`${file} ${read.reason}`)
      const before = 'text' in read && read.text.trim() !== '' ? read.text : NEW_FILE
      const edited = await editDocument(before, 'jsonc', [{ path: setting.name.split('.'), value }])
      if ('reason' in edited) throw invalid(`${file} ${edited.reason}`)
      const place = checkSettings(edited.text, file, context).values.get(setting.variable)
      if (value !== undefined && place === undefined) throw invalid(`${file} cannot be edited safely; edit it by hand`)
      if (edited.text === before) return false
      await writeSchema(folder)
      // A link leads to the file of someone who keeps it elsewhere.
      const target = 'text' in read ? await realpath(file) : file
      const mode = 'text' in read && !setting.secret ? (await stat(target)).mode & 0o777 : 0o600
      await replaceFile(target, edited.text, mode)
      return true
    })
    return { file, isChanged }
  } catch (error) {
    if (BridgeError.isInstance(error)) throw error
    throw new BridgeError('STATE_UNWRITABLE', `${file} cannot be written`, { cause: error })
  }
}

const SCHEMA = path.join('.sandbridge', 'settings.schema.json')
const NEW_FILE = `{\n  "$schema": "./.sandbridge/settings.schema.json"\n}\n`

/** Beside the file, so that an editor finds it wherever the package is installed. */
async function writeSchema(folder: string): Promise<void> {
  const { settingsJsonSchema } = await import('./settings-schema.ts')
  await writeFile(path.join(folder, SCHEMA), `${JSON.stringify(settingsJsonSchema(), undefined, 2)}\n`)
}

function refused(message: string, hint: string): BridgeError {
  return new BridgeError('TOOL_ARGUMENTS_INVALID', message, { hint })
}

function invalid(message: string): BridgeError {
  return new BridgeError('CONFIG_INVALID', message, { hint: 'Correct the file: docs/configuration.md describes it.' })
}
