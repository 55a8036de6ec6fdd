// Matches patterns in which `*` stands for any text, including none. Pure.

/** True if all of `text` matches. */
export function fitsGlob(pattern: string, text: string): boolean {
  const parts = pattern.split('*')
  if (parts.length === 1) return pattern === text
  const [first = ''] = parts
  const last = parts.at(-1) ?? ''
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  // Takes the leftmost match of each part in turn: no backtracking, whatever the pattern.
  let from = first.length
  const end = text.length - last.length
  for (const part of parts.slice(1, -1)) {
    const at = text.indexOf(part, from)
    if (at === -1 || at + part.length > end) return false
    from = at + part.length
  }
  return true
}
