// Paths as users write them, and how they compare. Pure.
import path from 'node:path'

/** The home, also as files of variables and of clients have it, which no shell reads. */
const HOME = /^(?:~|\$HOME|\$\{HOME\}|(?:%|\$env:)userprofile%?|%homedrive%%homepath%)(?=[/\\]|$)/i

/** Makes `~/x` and relative paths absolute. */
export function absolutePath(text: string, home: string): string {
  return HOME.test(text) ? path.join(home, text.replace(HOME, '')) : path.resolve(text)
}

/** A value as some write it into a file of variables, with quotes around it. */
export function unquoted(given: string): string {
  const [, , inside] = /^(["'])((?:(?!\1).)*)\1$/s.exec(given.trim()) ?? []
  return (inside ?? given).trim()
}

/** Whether a folder equals or contains another place. Both paths are absolute. */
export function isInside(outer: string, inner: string): boolean {
  const relative = path.relative(outer, inner)
  return relative === '' || (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative))
}

/** A path of Windows as it compares there: with any slashes, in any case, and as `\\?\`. Others stay as they are. */
export function comparable(place: string): string {
  const slashed = place.replaceAll('\\', '/')
  const plain = slashed.replace(/^\/\/[?.]\/UNC(?=\/)/i, '/').replace(/^\/\/[?.]\/(?=[a-z]:)/i, '')
  return /^(?:[a-z]:\/|\/\/)/i.test(plain) ? plain.toLowerCase() : place
}
