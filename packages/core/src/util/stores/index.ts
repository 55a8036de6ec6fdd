// What packages use of keep.
export { JsonRecord } from './json-record.ts'
export { type Content, KeptOrigins } from './kept-origins.ts'
export { type Change, LiveRecord } from './live-record.ts'
export type { Document, LogInfo, Logs, LogWriter, Piece, Store, Stores, VersionFile, Versions } from './store.ts'
export { checkStoredName, isPathPart, isStoredName, refuseOtherCase } from './stored-name.ts'
export { unwritable } from './files/versioned-folders.ts'
