// What packages use of config/formats.
export { type ConfigFormat, type ConfigObject, parseDocument, valueAt } from './config-document.ts'
