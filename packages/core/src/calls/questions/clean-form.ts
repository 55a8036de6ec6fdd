// Cleans the texts of a form that a server wants filled in. Names and values go back to the server unchanged. Pure.
import { cleanWords, isPlainlySeen } from '../../util/text/server-words.ts'

/** Forms are flat (MCP 2025-11-25, Elicitation, Requested Schema); no client shows deeper nesting. */
const MAX_DEPTH = 12

/** Schema fields that are displayed and that the server does not read back. */
const WORDS = new Set(['title', 'description', 'enumNames'])

/** Returns the form, or `unseen` when a name or a value in it displays as something else than it is. */
export function cleanForm(schema: unknown): unknown {
  try {
    return clean(schema, false, 0)
  } catch (error) {
    if (error instanceof UnseenError) return 'unseen'
    throw error
  }
}

class UnseenError extends Error {}

function clean(value: unknown, isWords: boolean, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new UnseenError()
  if (typeof value === 'string') return isWords ? cleanWords(value) : seen(value)
  if (Array.isArray(value)) return value.map((item) => clean(item, isWords, depth + 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [seen(key), clean(item, isWords || WORDS.has(key), depth + 1)]),
  )
}

function seen(text: string): string {
  if (!isPlainlySeen(text)) throw new UnseenError()
  return text
}
