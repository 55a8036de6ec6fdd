// Removes files that have not been used for long.
import { readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { orUndefined } from '../or-undefined.ts'

/** Removes entries that are too old. Never throws. @param keptMs of a name; undefined: always */
export function removeUnused(folder: string, keptMs: (name: string) => number | undefined): void {
  for (const name of orUndefined(() => readdirSync(folder)) ?? []) {
    const limit = keptMs(name)
    const entry = path.join(folder, name)
    // Another process may have removed it, or use it.
    orUndefined(() => {
      if (limit !== undefined && Date.now() - statSync(entry).mtimeMs > limit) rmSync(entry, { recursive: true })
    })
  }
}
