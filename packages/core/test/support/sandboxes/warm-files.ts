// What bridges keep between starts on one machine, for the homes of tests: made by warm-caches.ts. The code that a
// bridge of a test is the first to load is added to it.
import { copyFileSync, cpSync, existsSync, linkSync, mkdirSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const WARM_CACHES = fileURLToPath(new URL('../../../../../.cache/test/warm', import.meta.url))

const COPIED = ['kernels', 'programs']

/** Gives a cache what there is. */
export function takeWarmCaches(cache: string): void {
  linkCode(WARM_CACHES, cache)
  copyOthers(WARM_CACHES, cache)
}

/** Keeps what the bridges of the warm-up have made. */
export function keepWarmCaches(cache: string): void {
  linkCode(cache, WARM_CACHES)
  copyOthers(cache, WARM_CACHES)
}

/** Links, as it is a hundred files for each of some thousand homes: a bridge replaces such a file, and changes none. */
export function linkCode(from: string, to: string): void {
  const [source, target] = [path.join(from, 'code'), path.join(to, 'code')]
  const names = namesIn(source).filter((name) => !name.endsWith('.tmp'))
  if (names.length === 0) return
  mkdirSync(target, { recursive: true, mode: 0o700 })
  const there = new Set(namesIn(target))
  for (const name of names) if (!there.has(name)) link(path.join(source, name), path.join(target, name))
}

function copyOthers(from: string, to: string): void {
  for (const name of COPIED)
    if (existsSync(path.join(from, name))) cpSync(path.join(from, name), path.join(to, name), { recursive: true })
}

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : [])

/** A cache may be on another disk, and another worker may be quicker. */
function link(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EXDEV') copyFileSync(from, to)
    else if (code !== 'EEXIST' && code !== 'ENOENT') throw error
  }
}
