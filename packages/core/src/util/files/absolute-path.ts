// Paths as users write them.
import path from 'node:path'

/** Makes `~/x` and relative paths absolute. */
export function absolutePath(text: string, home: string): string {
  if (text === '~') return home
  if (/^~[/\\]/.test(text)) return path.join(home, text.slice(2))
  return path.resolve(text)
}
