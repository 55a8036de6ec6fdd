// What packages use of isolation.
export { sendInterrupt } from './local/local-sandbox.ts'
export {
  closedFolderOnTheWay,
  letOthersRead,
  letOthersThrough,
  makeReadableFolder,
} from './local/let-others-through.ts'
export { isRealRoot, NOBODY } from './local/real-root.ts'
export { DRAIN_MS, type Explained, LocalSandbox, type ProcessEnd, STDERR_TAIL_BYTES } from './local/local-sandbox.ts'
export { StdioProcess } from './local/stdio-process.ts'
export { makeTemporaryFolder, noTemporaryFiles } from './local/temporary-folder.ts'
export type { Candidate, CellMark, Durable, KeptPlace, KeptSession, LeftBehind } from './provider.ts'
export type { MissingPackage, MountedFolder } from './provider.ts'
export type { Program, Provider, ProviderName, Resumed, Sandbox, SandboxExit, SandboxLimits } from './provider.ts'
export type { StartedProgram } from './provider.ts'
export { SharedPreparation } from './shared-preparation.ts'
