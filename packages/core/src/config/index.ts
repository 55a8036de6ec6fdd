// What packages use of config.
export { type ConfigFileSystem, type FileText, nodeFileSystem, readFileOrLink, readFileText } from './config-file.ts'
export { discoverServers, hostPaths } from './discover.ts'
export {
  type ClientFile,
  clientFileText,
  otherClientFiles,
  otherClientsNote,
  unreadFiles,
} from './notes/other-clients.ts'
export { PermissionFiles, permissionsFile } from './permission-files.ts'
export { areUnchanged, look } from './places-seen.ts'
export { ADDED_SERVERS_FILE, mcps, OWN_READERS, OWN_SOURCES, SETTINGS_FILE } from './readers/own-places.ts'
export { entriesOf, inHome, inProject, join, TableRefused } from './readers/reader.ts'
export type { ConfigLocation, HostPaths, Reader } from './readers/reader.ts'
export { createTrustStore } from './trust.ts'
