// What packages use of util/files.
export { readFailure, writeFailure } from './file-failure.ts'
export { withFileLock } from './file-lock.ts'
export { comparable, isInside } from './absolute-path.ts'
export { keepText, readKeptText } from './kept-text.ts'
export { isOnlyOurs, isOwnFolderSync, makeFolder, makePrivateFolder } from './private-folder.ts'
export { READ_AT_ONCE, readOrdinary, readOrdinarySync, readOrdinaryText, readPiece } from './read-ordinary.ts'
export { removeUnused } from './remove-unused.ts'
export { renameFile, replaceFile, replaceFileSync } from './replace-file.ts'
