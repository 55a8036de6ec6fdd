// What packages use of isolation.
export { sendInterrupt } from './interrupt.ts'
export { type BubblewrapPrograms, findBubblewrapPrograms, NOBODY } from './local/find-bubblewrap.ts'
export {
  closedFolderOnTheWay,
  letOthersRead,
  letOthersThrough,
  makeReadableFolder,
} from './local/let-others-through.ts'
export { DRAIN_MS, type Explained, LocalSandbox, type ProcessEnd, STDERR_TAIL_BYTES } from './local/local-sandbox.ts'
export { StdioProcess } from './local/stdio-process.ts'
export { makeTemporaryFolder, noTemporaryFiles } from './local/temporary-folder.ts'
export type { Candidate, CellMark, Durable, KeptPlace, KeptSession, LeftBehind } from './provider.ts'
export type { MissingPackage, MountedFolder } from './provider.ts'
export type { Program, Provider, ProviderName, Resumed, Sandbox, SandboxExit, SandboxLimits } from './provider.ts'
export type { StartedProgram } from './provider.ts'
export { ALLOWED_SYSCALLS, ENOSYS, EPERM, FLOCK, MISSING_SYSCALL, parseSyscalls } from './seccomp/python-syscalls.ts'
export { RULED_SYSCALLS } from './seccomp/python-syscalls.ts'
export type { ArgumentTest, RuledSyscall, Syscall } from './seccomp/python-syscalls.ts'
export { refusingFilter, seccompFilter } from './seccomp/seccomp-filter.ts'
export { SharedPreparation } from './shared-preparation.ts'
