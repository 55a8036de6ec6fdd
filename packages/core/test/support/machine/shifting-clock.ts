// A clock for a bridge that the test can set while the bridge runs.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from '../bridges/bridge-process.ts'

const CLOCK = pathToFileURL(path.join(ROOT, 'packages/core/test/fixtures/shifting-clock.mjs')).href

/**
 * @param folder where the shift is stored.
 * @returns a function that shifts the time of day, and the environment of a bridge that uses this clock
 */
export function shiftingClock(folder: string): { set: (shiftMs: number) => void; env: Record<string, string> } {
  const file = path.join(folder, 'clock-shift')
  const set = (shiftMs: number): void => writeFileSync(file, String(shiftMs))
  set(0)
  return { set, env: { NODE_OPTIONS: `--import=${CLOCK}`, CLOCK_SHIFT_FILE: file } }
}
