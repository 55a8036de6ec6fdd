// Where a secret without quotes ends. Pure.

/** The next part of a query, as in `?token=…&page=2`; in HTML, `&` is written `&amp;`. */
const NEXT_PART = /&(?:amp;)?[\w.[\]%-]{1,64}=/
const MAX_PART_CHARS = 70
/** How far back a bracket around a value is looked for, in its line. */
const MAX_BEFORE_CHARS = 200

/**
 * Returns how many characters of a value are its own. The next part of a query is not, and brackets and punctuation at
 * the end are not where the brackets were opened before the value: a password may end in a bracket, too.
 */
export function bareLength(value: string, text: string, start: number): number {
  const query = text.slice(start, start + value.length + MAX_PART_CHARS).search(NEXT_PART)
  const part = query >= 0 && query < value.length ? value.slice(0, query) : value
  const end = /[.:!?]/.test(part.slice(-1)) ? part.length - 1 : part.length
  let own = end
  while (own > 0 && /[)\]]/.test(part[own - 1]!)) own -= 1
  if (own === end) return part.length
  const inside = unclosed(part.slice(0, own))
  const around = unclosed(text.slice(Math.max(0, start - MAX_BEFORE_CHARS), start))
  while (closes(inside, part.charCodeAt(own))) own += 1
  // With more brackets than were opened around the value, the first ones are taken for its own.
  let length = part.length
  for (let at = end - 1; at >= own && closes(around, part.charCodeAt(at)); at -= 1) length = at
  return length
}

/** How many brackets of each kind a text opens and does not close. */
interface Open {
  round: number
  square: number
}

/** Counts those of the last line of a text. */
function unclosed(text: string): Open {
  const open = { round: 0, square: 0 }
  for (let at = text.lastIndexOf('\n') + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 40) open.round += 1
    else if (code === 91) open.square += 1
    else closes(open, code)
  }
  return open
}

/** Takes the bracket that a character closes out of those that are open. Returns whether there is one. */
function closes(open: Open, code: number): boolean {
  const kind = code === 41 ? 'round' : code === 93 ? 'square' : undefined
  if (!kind || open[kind] === 0) return false
  open[kind] -= 1
  return true
}
