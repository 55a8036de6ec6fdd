// Describes a cell that an earlier bridge started, for the result of the next cell.
import { hash } from 'node:crypto'
import type { CellResult } from '../cell-result.ts'
import type { LeftBehind } from '../../isolation/provider.ts'
import { count } from '../../util/text/count.ts'
import type { CellRequest } from './cell-run.ts'

/** Characters that a note shows of each text. */
const SHOWN_CHARS = 4_000

/** Identifies the source of a cell. */
export function digestOf({ code, language }: Pick<CellRequest, 'code' | 'language'>): string {
  return hash('sha256', `${language ?? 'python'}\n${code}`)
}

/** Notes about what happened to the cell while no bridge was connected. */
export function leftNotes({ number, isLate, droppedBytes }: LeftBehind): string[] {
  return [
    ...(isLate ? [`Cell ${number} reached its time limit while no bridge was there, and was interrupted.`] : []),
    ...(droppedBytes > 0 ? [`Of what cell ${number} printed, the first ${droppedBytes} bytes were dropped.`] : []),
  ]
}

/** Describes its result, for the reader of the next cell. */
export function describeLeft(number: number, ran: CellResult): string {
  const { status, stdout, stderr, value, error, displays } = ran
  const texts = [stdout, stderr, textOf(value?.['text/plain']), error?.traceback ?? '']
    .map((text) => text.trimEnd())
    .filter((text) => text !== '')
    .map(shortened)
  const end = status === 'ok' ? 'has finished' : `has ended: ${status}`
  const sentences = [
    `Cell ${number}, which ran when the bridge ended, ${end}.`,
    ...ran.notes,
    ...(displays.length > 0 ? [`${count(displays.length, 'displayed value')} of it cannot be shown here.`] : []),
    ...(texts.length > 0 ? ['It showed:'] : []),
  ]
  return [sentences.join(' '), ...texts].join('\n')
}

function shortened(text: string): string {
  const rest = text.length - SHOWN_CHARS
  return rest > 0 ? `${text.slice(0, SHOWN_CHARS)} … (${count(rest, 'more character')})` : text
}

function textOf(text: unknown): string {
  return typeof text === 'string' ? text : ''
}
