// Who may read and write a file or folder, for tests. Windows has no modes: what is in a user's folder is the user's.
import { statSync } from 'node:fs'
import { expect } from 'vitest'

/** @param mode what `chmod` takes */
export function expectMode(place: string, mode: number): void {
  if (process.platform !== 'win32') expect(statSync(place).mode & 0o777, place).toBe(mode)
}
