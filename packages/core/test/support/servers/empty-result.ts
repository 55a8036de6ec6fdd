import type { CellResult } from '../../../src/cell/cell-result.ts'

/** Of a cell that printed nothing and has no value. */
export const EMPTY_RESULT: CellResult = {
  status: 'ok',
  stdout: '',
  stderr: '',
  displays: [],
  notes: [],
  stateLost: false,
  durationMs: 1,
  timeoutMs: 1,
}
