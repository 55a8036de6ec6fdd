// What packages use of util/process.
export { environmentOf, mergedEnvironment } from './environment.ts'
export {
  exitSignal,
  endFirst,
  endGroup,
  groupExists,
  hasStreams,
  NO_MORE_FILES,
  untrackGroup,
  watchGroups,
} from './process-group.ts'
export { commandEnvironment, findPlaces, findPrograms, foundProgram, realpathOr } from './find-program.ts'
export { withUsualFolders } from './find-program.ts'
export { bootId, hostId, hostScope, isRunning, startTime, stillRuns, thisProcess } from './process-id.ts'
export type { RecordedProcess } from './process-id.ts'
export { PipedInput } from './piped-input.ts'
export { processTree } from './process-tree-usage.ts'
export { type CommandResult, runCommand } from './run-command.ts'
export { tightMemory } from './tight-memory.ts'
export { type EndSignal, onShutdown, SHUTDOWN_LIMIT_MS, SIGNAL_EXIT_CODES } from './shutdown.ts'
