// Compares folders by their paths alone.
import path from 'node:path'

/** Whether a folder equals or contains another place. Both paths are absolute. */
export function isInside(outer: string, inner: string): boolean {
  const relative = path.relative(outer, inner)
  return relative === '' || (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative))
}
