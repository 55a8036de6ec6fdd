// What packages use of cell/session.
export type { CellListeners, CellRequest } from './cell-run.ts'
export type { Session } from './session.ts'
