// What a result says of its session, in sentences. Pure.
import type { LeftBehind, MissingPackage } from '../../isolation/provider.ts'
import type { CellResult } from '../cell-result.ts'
import { count, firstOf } from '../../util/text/count.ts'
import type { Restorable } from '../session/checkpoint.ts'
import type { SessionNews } from '../session/session-news.ts'

/** Most variables that a note names. */
const MAX_NAMED = 30
/** Characters that a note shows of each text of another cell. */
const SHOWN_CHARS = 4_000

type NewsOf<W extends SessionNews['what']> = Extract<SessionNews, { what: W }>

const NOTES: { [W in SessionNews['what']]: (news: NewsOf<W>) => string } = {
  said: ({ text }) => text,
  'packages-missing': ({ missing }) => missingNote(missing),
  'sandbox-ended': ({ how, restorable }) => `The session's sandbox had ended (${how}): ${afterLoss(restorable)}`,
  idle: ({ seconds, restorable }) => `The session was idle for ${seconds} s and had ended: ${afterLoss(restorable)}`,
  'guest-ended-sandbox': () => 'A cell of the user ended the sandbox of this session, and its variables are gone.',
  closed: ({ why }) => `${why} while this cell ran. Output up to then is kept; the variables are lost.`,
  reset: () => 'The session was reset: the next cell has no variables, and an empty /workspace.',
  restores: ({ restorable }) =>
    `The next cell restores these as they were ${momentOf(restorable) ?? 'before this cell'}: ${firstOf(restorable.kept, MAX_NAMED)}.${losses(restorable)}`,
  'guest-cells': ({ first, last, count: ran }) =>
    ran === 1
      ? `The user ran cell ${first} in this session, so variables may have changed.`
      : `The user ran ${ran} cells in this session, ${first} to ${last}, so variables may have changed.`,
  'same-cell-left': ({ cell }) =>
    `Cell ${cell} had the same source and ran when the bridge ended. It was not run again: this is its result.`,
  'cell-late': ({ cell }) => `Cell ${cell} reached its time limit while no bridge was there, and was interrupted.`,
  'output-dropped': ({ cell, bytes }) => `Of what cell ${cell} printed, the first ${bytes} bytes were dropped.`,
  'cell-left': ({ cell, ran }) => describeLeft(cell, ran),
}

/** A piece of news in a sentence or more. */
export function sessionNote<W extends SessionNews['what']>(news: NewsOf<W>): string {
  // TypeScript does not see that the function is the one for this news.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (NOTES[news.what] as (of: NewsOf<W>) => string)(news)
}

/** What happened to a cell while no bridge was connected. */
export function leftNews({ number: cell, isLate, droppedBytes: bytes }: LeftBehind): SessionNews[] {
  return [
    ...(isLate ? [{ what: 'cell-late' as const, cell }] : []),
    ...(bytes > 0 ? [{ what: 'output-dropped' as const, cell, bytes }] : []),
  ]
}

/** After a kernel ended between two cells. The kernel that restores the variables names them. */
function afterLoss(restorable: Restorable | undefined): string {
  if (!restorable) return 'variables of earlier cells are gone.'
  const moment = momentOf(restorable)
  const kept = moment === undefined ? 'that were kept' : `as they were ${moment}`
  return `its files are gone; the next cell restores the variables ${kept}.${losses(restorable)}`
}

/** The moment of a checkpoint that is not the last cell's. */
function momentOf({ since }: Restorable): string | undefined {
  return since === undefined ? undefined : `after cell ${since} (later changes are lost)`
}

function losses({ lost }: Restorable): string {
  return lost.length === 0 ? '' : ` Lost: ${firstOf(lost, MAX_NAMED)}.`
}

/** The result of a cell that an earlier bridge started, for the reader of the next cell. */
function describeLeft(number: number, ran: CellResult): string {
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
function missingNote(missing: readonly MissingPackage[]): string {
  const reasons = new Map<string, string[]>()
  for (const { word, reason } of missing) reasons.set(reason, [...(reasons.get(reason) ?? []), word])
  const texts = [...reasons].slice(0, 3).map(([reason, words]) => `${firstOf(words)} (${reason})`)
  const more = reasons.size > texts.length ? '; for the others see `sandbridge packages list`' : ''
  return `These packages are configured and missing here: ${texts.join('; ')}${more}. Everything else works. The user can fix this with \`sandbridge packages\`.`
}
