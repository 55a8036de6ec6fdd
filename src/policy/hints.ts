// What a tool's annotations are taken for. They are the server's own claims: they only count for servers that the user has configured, and not where
// the tool's name says the opposite. Pure.
import { HINTS, type Hints } from './rule.ts'

/** MCP 2025-11-25, Tools, ToolAnnotations: what a tool without annotations is. */
const UNKNOWN: Hints = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }

/** Verbs that no tool begins with that only reads. */
const CHANGING = new Set(
  (
    'delete remove drop destroy erase purge wipe truncate kill create update insert write put patch set add edit ' +
    'rename move merge push send post publish upload deploy execute exec install uninstall revoke grant transfer pay'
  ).split(' '),
)

/** @param isBelieved whether the user has configured the server */
export function believedHints(tool: string, claimed: unknown, isBelieved: boolean): Hints {
  if (!isBelieved || typeof claimed !== 'object' || claimed === null) return UNKNOWN
  const given = claimed as Record<string, unknown>
  const said = (hint: keyof Hints): boolean => {
    const value = Object.hasOwn(given, hint) ? given[hint] : undefined
    return typeof value === 'boolean' ? value : UNKNOWN[hint]
  }
  const isReadOnly = said('readOnlyHint') && given['destructiveHint'] !== true && !CHANGING.has(firstWord(tool))
  const hints = Object.fromEntries(HINTS.map((hint) => [hint, said(hint)])) as Hints
  if (isReadOnly) return { ...hints, readOnlyHint: true, destructiveHint: false }
  // Who is caught out in one claim is not believed the other.
  return said('readOnlyHint') ? { ...hints, readOnlyHint: false, destructiveHint: true } : hints
}

function firstWord(name: string): string {
  const [word = ''] = name
    .normalize('NFKC')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== '')
  return word.toLowerCase()
}
