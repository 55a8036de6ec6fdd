// Runs a family on its corpus, then on new mutations until the count or time limit. Inputs that break a promise are
// added to the corpus.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { answers } from './answers.ts'
import { configFiles } from './config-files.ts'
import type { Family } from './family.ts'
import { frames } from './frames.ts'
import { keptFiles } from './kept-files.ts'
import { messages } from './messages.ts'
import { mutate, randomFrom } from './mutate.ts'

export const FAMILIES: Record<string, () => Family | Promise<Family>> = {
  frames: () => frames,
  'config-files': () => configFiles,
  messages: () => messages,
  'kept-files': keptFiles,
  answers: () => answers,
}

const CORPUS = fileURLToPath(new URL('corpus/', import.meta.url))

export interface FuzzOptions {
  seed: number
  /** Stop after this many mutations or after this time, whichever is first. */
  runs?: number
  seconds?: number
}

/** @returns the number of inputs tried. @throws Error that names the saved input when a promise was broken */
export async function fuzz(
  family: Family,
  { seed, runs = family.shortRuns, seconds = 60 }: FuzzOptions,
): Promise<number> {
  const folder = path.join(CORPUS, family.name)
  const corpus = existsSync(folder) ? readdirSync(folder).map((name) => readFileSync(path.join(folder, name))) : []
  const random = randomFrom(seed)
  const end = Date.now() + seconds * 1000
  let count = 0
  try {
    for (const input of [...family.seeds, ...corpus]) {
      await attempt(family, input, folder)
      count += 1
    }
    while (count < runs && Date.now() < end) {
      const start = family.seeds[Math.floor(random() * family.seeds.length)]!
      await attempt(family, mutate(start, random), folder)
      count += 1
    }
  } finally {
    await family.close?.()
  }
  return count
}

async function attempt(family: Family, input: Buffer, folder: string): Promise<void> {
  try {
    await family.attempt(input)
  } catch (error) {
    mkdirSync(folder, { recursive: true })
    const file = path.join(folder, createHash('sha256').update(input).digest('hex').slice(0, 16))
    writeFileSync(file, input)
    throw new Error(
      `${family.name}: ${error instanceof Error ? error.message : String(error)} (input kept in ${file})`,
      {
        cause: error,
      },
    )
  }
}
