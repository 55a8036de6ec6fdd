// What a result says of its session, in sentences. Pure.
import type { LeftBehind, MissingPackage } from '../../isolation/provider.ts'
import type { CellResult } from '../cell-result.ts'
import { count, firstOf } from '../../util/text/count.ts'
import type { Restorable } from '../session/checkpoint.ts'

/** Most variables that a note names. */
const MAX_NAMED = 30
/** Characters that a note shows of each text of another cell. */
const SHOWN_CHARS = 4_000

/** Of what the next cell finds. */
export function restoresNote(restorable: Restorable): string {
  const moment = momentOf(restorable) ?? 'before this cell'
  return `The next cell restores these as they were ${moment}: ${firstOf(restorable.kept, MAX_NAMED)}.${losses(restorable)}`
}

/** Cells that the user ran, which the client does not know of yet. */
export interface GuestCells {
  first: number
  last: number
  ran: number
}

export function guestsNote({ first, last, ran }: GuestCells): string {
  const cells = ran === 1 ? `cell ${first} in this session` : `${ran} cells in this session, ${first} to ${last}`
  return `The user ran ${cells}, so variables may have changed.`
}

/** What happened to a cell while no bridge was connected. */
export function leftNotes({ number: cell, isLate, droppedBytes: bytes }: LeftBehind): string[] {
  const late = `Cell ${cell} reached its time limit while no bridge was there, and was interrupted.`
  const dropped = `Of what cell ${cell} printed, the first ${bytes} bytes were dropped.`
  return [...(isLate ? [late] : []), ...(bytes > 0 ? [dropped] : [])]
}

/** Of a kernel that ended between two cells. The kernel that restores the variables names them. */
export function lossNote(how: string, restorable: Restorable | undefined): string {
  if (!restorable) return `${how}: variables of earlier cells are gone.`
  const moment = momentOf(restorable)
  const kept = moment === undefined ? 'that were kept' : `as they were ${moment}`
  return `${how}: its files are gone; the next cell restores the variables ${kept}.${losses(restorable)}`
}

/** The moment of a checkpoint that is not the last cell's. */
function momentOf({ since }: Restorable): string | undefined {
  return since === undefined ? undefined : `after cell ${since} (later changes are lost)`
}

function losses({ lost }: Restorable): string {
  return lost.length === 0 ? '' : ` Lost: ${firstOf(lost, MAX_NAMED)}.`
}

/** The result of a cell that an earlier bridge started, for the reader of the next cell. */
export function describeLeft(number: number, ran: CellResult): string {
  const { status, stdout, stderr, value, error, displays } = ran
  const plain = value?.['text/plain']
  const texts = [stdout, stderr, typeof plain === 'string' ? plain : '', error?.traceback ?? '']
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

/** One note for all of them. */
export function missingNote(missing: readonly MissingPackage[]): string {
  const reasons = new Map<string, string[]>()
  for (const { word, reason } of missing) reasons.set(reason, [...(reasons.get(reason) ?? []), word])
  const texts = [...reasons].slice(0, 3).map(([reason, words]) => `${firstOf(words)} (${reason})`)
  const more = reasons.size > texts.length ? '; for the others see `sandbridge packages list`' : ''
  return `These packages are configured and missing here: ${texts.join('; ')}${more}. Everything else works. The user can fix this with \`sandbridge packages\`.`
}
