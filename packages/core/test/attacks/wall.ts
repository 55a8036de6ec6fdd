// The outer wall for tests, and its command with parts removed.
import type { OuterLayer } from '../../src/isolation/pyodide/native-wall-part.ts'
import { findOuterLayer } from '../../src/isolation/pyodide/outer-layer.ts'
import { skip } from '../support/suite/needs.ts'

/** The wall around Node and a bundle. Without one the test is skipped; it fails where bubblewrap must work. */
export async function wallOrSkip(bundle: string): Promise<OuterLayer> {
  const outer = await findOuterLayer(process.execPath, bundle)
  if (outer.wall === 'bubblewrap') return outer
  if (/\bbubblewrap\b/.test(process.env['SANDBRIDGE_TEST_ENGINES'] ?? '')) throw new Error(outer.verdict)
  return skip(outer.verdict)
}

/** A command without a flag and its values. Throws when the flag is missing, so that no control passes by accident. */
export function withoutFlag(command: readonly string[], flag: string, valueCount = 0): string[] {
  const at = command.indexOf(flag)
  if (at === -1) throw new Error(`there is no ${flag}`)
  return command.toSpliced(at, 1 + valueCount)
}

/** The position of bubblewrap itself, after the command that drops root's rights, if present. */
export function startOfBubblewrap(command: readonly string[]): number {
  return command.findIndex((word) => word.endsWith('/bwrap'))
}
