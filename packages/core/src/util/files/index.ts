// What packages use of util/files.
export { readFailure } from './file-failure.ts'
export { withFileLock } from './file-lock.ts'
export { comparable, isInside } from './absolute-path.ts'
export { keepText, readKeptText } from './kept-text.ts'
export { isOnlyOurs, isOwnFolderSync, makeFolder, makePrivateFolder, makePrivateFolderSync } from './private-folder.ts'
export { readOrdinary, readOrdinaryText } from './read-ordinary.ts'
export { removeUnused } from './remove-unused.ts'
export { replaceFile, replaceFileSync } from './replace-file.ts'
