// What was typed in earlier shells. It may hold secrets, so only its owner can read it.
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { replaceFile } from '../storage/replace-file.ts'

export const MAX_LINES = 1_000

/** The newest first, as readline wants them. */
export async function readHistory(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n').filter(Boolean).slice(-MAX_LINES).toReversed()
}

/** A shell works without: a folder that cannot be written to costs the history alone. */
export async function writeHistory(file: string, lines: readonly string[]): Promise<void> {
  const text = lines
    .slice(0, MAX_LINES)
    .toReversed()
    .map((line) => `${line}\n`)
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
    await replaceFile(file, text.join(''))
  } catch {
    // As if there had been none.
  }
}
