// The meanings of words, as far as they were loaded.
import type { Meanings } from './meanings.ts'

let read: Meanings | undefined

/** Loads them at the first call: after the tools of a bridge were listed, or in the first search; never at start. */
export async function readMeanings(): Promise<Meanings | undefined> {
  return (read ??= (await import('./vectors/word-vectors-file.ts')).wordMeanings())
}

/** As far as they were loaded. */
export function knownMeanings(): Meanings | undefined {
  return read
}
