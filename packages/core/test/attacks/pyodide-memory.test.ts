// @module-tag whole: it fills memory
// This file verifies the embedded sandbox's memory, which is a copy of a process on some machine: it must contain
// nothing of that machine or this one. pyodide-layers.test.ts has the control: that the search finds what is there.
import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { homedir, hostname, userInfo } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { newFolder } from '../support/machine/new-folder.ts'

const PROGRAM = fileURLToPath(new URL('../fixtures/sandboxes/search-memory.ts', import.meta.url))

let base: string
let cacheFolder: string
beforeAll(async () => {
  base = newFolder()
  cacheFolder = path.join(base, 'canary-cache-folder')
})

/**
 * Starts a machine's bridge with a distinct word in every place that could be copied. Returns which of these and of
 * `others` are in memory.
 */
async function searchOn(machine: string, others: readonly string[]): Promise<string[]> {
  const canary = (what: string): string => `canary-${machine}-${what}`
  const folder = path.join(base, canary('folder'))
  const home = path.join(base, canary('home'))
  await Promise.all([mkdir(folder), mkdir(home)])
  await writeFile(path.join(folder, canary('file')), canary('content'))
  const name = canary('name').replaceAll('-', '_').toUpperCase()
  const words = [...wordsOf(machine), ...others, path.basename(base), path.basename(cacheFolder)]
  // Words that are too short or too common would always be found, as would the place where the machine that made
  // Pyodide has its Node.
  const own = [homedir(), hostname(), userInfo().username, process.execPath].filter(
    (word) => word.length > 7 && word !== '/usr/local/bin/node',
  )
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      '--import',
      import.meta.resolve('tsx'),
      PROGRAM,
      cacheFolder,
      JSON.stringify([...words, ...own]),
      canary('argument'),
    ],
    { cwd: folder, env: { PATH: process.env['PATH'], HOME: home, USER: canary('user'), [name]: canary('value') } },
  )
  return JSON.parse(stdout) as string[]
}

/** Words in the environment, arguments, working directory, home, file names and contents of a machine. */
function wordsOf(machine: string): string[] {
  const kinds = ['value', 'user', 'argument', 'folder', 'home', 'file', 'content']
  return [...kinds.map((kind) => `canary-${machine}-${kind}`), `CANARY_${machine.toUpperCase()}_NAME`]
}

it('the memory of the embedded sandbox holds nothing of the machine that made its snapshot, nor of the one that runs it', async () => {
  expect(await searchOn('maker', [])).toEqual([])
  const folders = (await readdir(cacheFolder)).filter((name) => name.startsWith('pyodide-'))
  expect(folders).toHaveLength(1)
  expect(await searchOn('user', wordsOf('maker'))).toEqual([])
  const snapshot = await readFile(path.join(cacheFolder, folders[0]!, 'snapshot.bin'))
  expect(snapshot.includes('canary-')).toBe(false)
})
