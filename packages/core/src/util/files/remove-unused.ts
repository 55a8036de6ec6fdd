// Clears folders of what nobody has used for long.
import { readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'

/**
 * Removes the entries of a folder whose time is too long ago. Never throws: what cannot be removed stays.
 * @param keptMs how long the entry of a name is kept; undefined: always
 */
export function removeUnused(folder: string, keptMs: (name: string) => number | undefined): void {
  let names: string[] = []
  try {
    names = readdirSync(folder)
  } catch {
    // Nothing is kept there.
  }
  for (const name of names) {
    const limit = keptMs(name)
    const entry = path.join(folder, name)
    try {
      if (limit !== undefined && Date.now() - statSync(entry).mtimeMs > limit) rmSync(entry, { recursive: true })
    } catch {
      // Another process has removed it, or uses it.
    }
  }
}
