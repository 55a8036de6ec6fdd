// What is told of a server's values: a value as one line for a reader, what kind it is, and what was dropped. Pure.

const MAX_LEVELS = 6
const MAX_ITEMS = 50
/** Fields whose name says nothing that their text does not. */
const PLAIN_NAMES = new Set(
  'message detail details error errors title msg description error_description reason'.split(' '),
)

/** Fields that are long and for the server's author: they come last, where a text is cut. */
const STACK = /^(?:stack|trace)|trace(?:back)?$/i

/** Any JSON value as one line of its texts, without quotes and brackets, cut at `maxChars`; empty for none. */
export function readable(value: unknown, maxChars: number): string {
  const words = wordsOf(value, MAX_LEVELS)
  return words.length > maxChars ? `${words.slice(0, maxChars)}…` : words
}

function wordsOf(value: unknown, levels: number): string {
  if (typeof value === 'string') return value.trim()
  if (value === null || value === undefined) return ''
  if (typeof value !== 'object') return JSON.stringify(value)
  if (levels === 0) return '…'
  const parts = Array.isArray(value)
    ? value.slice(0, MAX_ITEMS).map((item) => wordsOf(item, levels - 1))
    : Object.entries(value)
        .slice(0, MAX_ITEMS)
        .toSorted(([a], [b]) => rank(a) - rank(b))
        .map(([name, inner]) => {
          const words = wordsOf(inner, levels - 1)
          return words === '' || PLAIN_NAMES.has(name) ? words : `${name}: ${words}`
        })
  return [...new Set(parts.filter((part) => part !== ''))].join(Array.isArray(value) ? '; ' : ', ')
}

function rank(name: string): number {
  return PLAIN_NAMES.has(name) ? 0 : STACK.test(name) ? 2 : 1
}

/** The fields of lists, by the method that returns them. */
export const LISTS: Record<string, string> = {
  'tools/list': 'tools',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'prompts/list': 'prompts',
}

/** In `_meta` of a result: what its `isError` was, if that was no boolean. */
export const SENT_ERROR = 'sandbridge/isError'

/** What a value is, in a sentence. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return value === null ? 'null' : 'missing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  return { string: 'a text', number: 'a number' }[typeof value as string] ?? 'an object'
}

/** Told what a message had that was left out, in words, such as "`_meta` of initialize is null". */
export type OnDropped = (what: string) => void

/** For the error handler of a transport: nothing failed, and the message is an `OnDropped` text. */
export class DroppedError extends Error {}
