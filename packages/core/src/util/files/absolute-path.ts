// Paths as users write them, and how they compare. Pure.
import path from 'node:path'

/** Makes `~/x` and relative paths absolute. */
export function absolutePath(text: string, home: string): string {
  if (text === '~') return home
  if (/^~[/\\]/.test(text)) return path.join(home, text.slice(2))
  return path.resolve(text)
}

/** Whether a folder equals or contains another place. Both paths are absolute. */
export function isInside(outer: string, inner: string): boolean {
  const relative = path.relative(outer, inner)
  return relative === '' || (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative))
}

/** A path of Windows as it compares there: with any slashes, and any case. Other paths stay as they are. */
export function comparable(place: string): string {
  return /^([a-z]:[/\\]|\\\\)/i.test(place) ? place.replaceAll('\\', '/').toLowerCase() : place
}
