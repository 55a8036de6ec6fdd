// Removes files that have not been used for long.
import { readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'

/** Removes entries that are too old. Never throws. @param keptMs of a name; undefined: always */
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
