// Which annotations to believe: claims count only for servers that the user configured, and not against the name. Pure.
import { fieldsOf } from '../../util/json/json.ts'
import { nameWords } from '../../util/text/python-name.ts'
import { HINTS, type Hints } from './rule.ts'

/** The values for a tool without annotations (MCP 2025-11-25, Tools, ToolAnnotations). */
const UNKNOWN: Hints = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }

/** First words of tools that change something: no read-only tool starts with one. */
const CHANGING = new Set(
  (
    'delete remove drop destroy erase purge wipe truncate kill create update insert write put patch set add edit ' +
    'rename move merge push send post publish upload deploy execute exec install uninstall revoke grant transfer pay'
  ).split(' '),
)

/** @param isBelieved whether the user configured the server */
export function believedHints(tool: string, claimed: unknown, isBelieved: boolean): Hints {
  if (!isBelieved || typeof claimed !== 'object' || claimed === null) return UNKNOWN
  const given = claimed as Record<string, unknown>
  const said = (hint: keyof Hints): boolean => {
    const value = Object.hasOwn(given, hint) ? given[hint] : undefined
    return typeof value === 'boolean' ? value : UNKNOWN[hint]
  }
  const isReadOnly = said('readOnlyHint') && given['destructiveHint'] !== true && !CHANGING.has(firstWordOf(tool))
  const hints = Object.fromEntries(HINTS.map((hint) => [hint, said(hint)])) as Hints
  if (isReadOnly) return { ...hints, readOnlyHint: true, destructiveHint: false }
  // A tool with one false claim is not believed the other.
  return said('readOnlyHint') ? { ...hints, readOnlyHint: false, destructiveHint: true } : hints
}

/** First words of tools that change nothing, as far as their name tells. */
const READING = new Set('get list read search find show describe count view lookup fetch browse inspect'.split(' '))

/** Whether a tool most likely changes nothing, by its claim or else its name: for words, never for a permission. */
export function soundsReadOnly(tool: string, claimed: unknown): boolean {
  if (believedHints(tool, claimed, true).readOnlyHint) return true
  const { readOnlyHint } = fieldsOf(claimed)
  const words = nameWords(tool.normalize('NFKC'))
  return readOnlyHint === undefined && READING.has(words[0] ?? '') && !words.some((word) => CHANGING.has(word))
}

function firstWordOf(tool: string): string {
  return nameWords(tool.normalize('NFKC'))[0] ?? ''
}
