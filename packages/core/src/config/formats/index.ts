// What packages use of config/formats.
export { type ConfigFormat, type ConfigObject, parseDocument } from './config-document.ts'
