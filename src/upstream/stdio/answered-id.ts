// Which request an answer is for that is too long to be read, told by the two ends of its line. Pure.
// Only a member of the message itself counts, never something inside its result, nor the id of a request that the server makes.

const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`
const ID = String.raw`"id"\s*:\s*(\d{1,15})`
const ANSWER = String.raw`"(?:result|error)"\s*:`

// Members come in any order, and with white space between them, as Python's json.dumps writes it.
const ID_FIRST = new RegExp(String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?${ID}\s*,\s*(?:${VERSION}\s*,\s*)?${ANSWER}`)
const ANSWER_FIRST = new RegExp(String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?${ANSWER}`)
const ID_LAST = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`)

/**
 * @param head the first bytes of the line, as latin1
 * @param tail its last bytes
 * @returns undefined when the ends do not tell
 */
export function answeredId(head: string, tail: string): number | undefined {
  const id = ID_FIRST.exec(head)?.[1] ?? (ANSWER_FIRST.test(head) ? ID_LAST.exec(tail)?.[1] : undefined)
  return id === undefined ? undefined : Number(id)
}
