// What packages use of cell.
export type { Artifact, CellError, CellResult } from './cell-result.ts'
export { Kernel } from './kernel/kernel.ts'
export type { CallHandler } from './kernel/open-calls.ts'
export { MAX_FRAME_BYTES, type MimeBundle, type VisibleServer } from './protocol/frames.ts'
export type { CellListeners, CellRequest } from './session/cell-run.ts'
export type { Session } from './session/session.ts'
export { MAX_PAUSE_MS, TimeLimit } from './time-limit.ts'
export { describeUpstreamProgress } from './tool-calls.ts'
