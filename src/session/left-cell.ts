// A cell that an earlier bridge began, as the next one tells of it.
import { createHash } from 'node:crypto'
import type { CellResult } from '../cell/cell-result.ts'
import type { LeftBehind } from '../sandbox/provider.ts'
import type { CellRequest } from './cell-run.ts'
import type { OutputStore } from './output-store.ts'

/** Of each text: what a note shows. */
const SHOWN_CHARS = 2_000

/** Tells the source of a cell from another. */
export function digestOf({ code, language }: Pick<CellRequest, 'code' | 'language'>): string {
  return createHash('sha256').update(`${language ?? 'python'}\n${code}`).digest('hex')
}

/** What happened to it while no bridge was there. */
export function leftNotes({ number, isLate, droppedBytes }: LeftBehind): string[] {
  return [
    ...(isLate ? [`Cell ${number} reached its time limit while no bridge was there, and was interrupted.`] : []),
    ...(droppedBytes > 0 ? [`Of what cell ${number} printed, the first ${droppedBytes} bytes were dropped.`] : []),
  ]
}

/** Its result, for the reader of the next cell. All of its texts are kept as its output. */
export function describeLeft(number: number, ran: CellResult, outputs: OutputStore): string {
  const { status, stdout, stderr, value, error } = ran
  const texts = [stdout, stderr, textOf(value?.['text/plain']), error?.traceback ?? '']
    .map((text) => text.trimEnd())
    .filter((text) => text !== '')
  outputs.keep(number, texts.join('\n'))
  const shown = texts.map((text) =>
    text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)} … (runtime.output(${number}) has all of it)` : text,
  )
  const end = status === 'ok' ? 'has finished' : `has ended: ${status}`
  const notes = ran.notes.length > 0 ? ` ${ran.notes.join(' ')}` : ''
  return `Cell ${number}, which ran when the bridge ended, ${end}.${notes}${shown.length > 0 ? ` It showed:\n${shown.join('\n')}` : ''}`
}

function textOf(text: unknown): string {
  return typeof text === 'string' ? text : ''
}
