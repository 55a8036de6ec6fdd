// What packages use of config/settings.
export { cacheFolder, keptPackagesFile, stateFolder } from './state-folder.ts'
export type { OtherLanguage } from './cells.ts'
export { type ClientContext, type Environment, processContext, variablesOfPlaces } from './client-context.ts'
export { checkSettings, groupOf, keyOf, settingNamed } from './file/check-file.ts'
export { type LiveSettings, loadLiveSettings } from './file/live-settings.ts'
export { loadSettings, readSettingsFile, settingsFile } from './file/load-settings.ts'
export { givenValues } from './given-texts.ts'
export { isPackageList, listReplacedBy, packagesSource } from './kept-packages.ts'
export { type MaskKind, PACKAGE_WORD } from './sandbox.ts'
export {
  choice,
  DAY_S,
  isPlainHttpAddress,
  optional,
  parse,
  pattern,
  seconds,
  setting,
  TOKEN,
  wholeNumber,
  words,
} from './setting-kinds.ts'
export { unquoted } from '../../util/files/absolute-path.ts'
export type { SettingContext } from './setting-kinds.ts'
export { namedSettings, notAllowed, readSettings, settingContext, settingsOf, withoutCredentials } from './settings.ts'
export type { Machine, NamedSetting, Settings } from './settings.ts'
