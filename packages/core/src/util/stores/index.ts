// What packages use of keep.
export { JsonDocument } from './json-document.ts'
export { type Content, KeptOrigins } from './kept-origins.ts'
export { type Change, LiveDocument } from './live-document.ts'
export type { Document, LogInfo, Logs, LogWriter, Piece, Store, Stores, VersionFile, Versions } from './store.ts'
export { checkStoredName, isPathPart, isStoredName, refuseOtherCase } from './stored-name.ts'
export { unwritable } from './files/versioned-folders.ts'
