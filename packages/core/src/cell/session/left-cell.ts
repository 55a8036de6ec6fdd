// Recognizes a cell that an earlier bridge started.
import { hash } from 'node:crypto'
import type { CellRequest } from './cell-run.ts'

/** Identifies the source of a cell. */
export function digestOf({ code, language }: Pick<CellRequest, 'code' | 'language'>): string {
  return hash('sha256', `${language ?? 'python'}\n${code}`)
}
