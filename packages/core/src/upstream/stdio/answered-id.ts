// Finds the request id of a response that is too long to be parsed, from both ends of its line. Pure.
// Only a member of the message itself counts, not one inside its result, nor the id of a request from the server.

const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`
const ID = String.raw`"id"\s*:\s*(\d{1,15})`
const ANSWER = String.raw`"(?:result|error)"\s*:`

// Members may have any order and white space between them, as in Python's json.dumps.
const ID_FIRST = new RegExp(String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?${ID}\s*,\s*(?:${VERSION}\s*,\s*)?${ANSWER}`)
const ANSWER_FIRST = new RegExp(String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?${ANSWER}`)
const ID_LAST = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`)

/** @param head the first bytes of the line, as latin1 @param tail its last @returns undefined if they hide the id */
export function answeredId(head: string, tail: string): number | undefined {
  const id = ID_FIRST.exec(head)?.[1] ?? (ANSWER_FIRST.test(head) ? ID_LAST.exec(tail)?.[1] : undefined)
  return id === undefined ? undefined : Number(id)
}
