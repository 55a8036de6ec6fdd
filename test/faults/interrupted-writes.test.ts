// @module-tag whole: it kills writers a hundred times
// This file verifies that the bridge's files survive writers that are killed at any moment, and concurrent writers.
// SANDBRIDGE_KILLS=500 runs the long form.
import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from 'rolldown'
import { beforeAll, expect, it } from 'vitest'
import { randomFrom } from '../fuzz/mutate.ts'
import { makeKeptHome, readKept } from './kept.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const WRITER = path.join(root, '.cache/test/writer/writer.mjs')
const killCount = Number(process.env['SANDBRIDGE_KILLS'] ?? 12)

// Once: a writer that transpiles its modules at each start takes ten times as long to start as to write.
beforeAll(async () => {
  await build({
    cwd: root,
    input: { writer: './test/faults/writer.ts' },
    platform: 'node',
    external: /^(?!@sandbridge\/)[^./]/,
    logLevel: 'warn',
    output: { dir: path.dirname(WRITER), entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
  })
})

function startWriter(
  home: string,
  prefix: string,
  count: number,
): { child: ChildProcess; says: (word: string) => Promise<void>; exited: Promise<void> } {
  const child = spawn(process.execPath, [WRITER, home, prefix, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const says = async (word: string) => {
    while (!said.includes(word)) {
      if (child.exitCode !== null) throw new Error(`The writer ended before it said ${word}`)
      await sleep(5)
    }
  }
  return { child, says, exited }
}

function makeHome(): string {
  const home = makeKeptHome()
  return home
}

it(
  `a store keeps everything that was written before, whenever a writer is killed (${killCount} times)`,
  { timeout: 60_000 + killCount * 4_000 },
  async () => {
    const home = makeHome()
    const random = randomFrom(7)
    let before: string[] = []
    for (let kill = 0; kill < killCount; kill += 1) {
      const { child, says, exited } = startWriter(home, `w${kill}_`, 1_000_000)
      await says('ready')
      // The first writer writes everything at least once, however slow the machine is.
      if (kill === 0) await says('wrote')
      await sleep(random() * 150)
      child.kill('SIGKILL')
      await exited
      const kept = await readKept(home)
      expect(kept.broken).toEqual([])
      expect(kept.artifacts).toEqual(expect.arrayContaining(before))
      // The trust and token files are one file each: a torn one would have lost the names of earlier rounds.
      for (const name of before.slice(0, 5)) {
        expect(await kept.tokenOf(name)).toBe(name)
        expect(kept.trusted.some((file) => file.endsWith(name))).toBe(true)
      }
      // Names that are complete: the last one of a round may have an artifact and no token.
      const complete = kept.artifacts.filter((name) => kept.trusted.some((file) => path.basename(file) === name))
      before = (
        await Promise.all(complete.map(async (name) => ((await kept.tokenOf(name)) === name ? [name] : [])))
      ).flat()
    }
    expect(before.length).toBeGreaterThan(0)
  },
)

it('a store loses nothing of two bridges that write at the same time', async () => {
  const home = makeHome()
  const count = 60
  const writers = ['a', 'b'].map((prefix) => startWriter(home, prefix, count))
  await Promise.all(writers.map(({ says }) => says('done')))
  const kept = await readKept(home)
  const names = ['a', 'b'].flatMap((prefix) => Array.from({ length: count }, (_, index) => `${prefix}${index}`))
  expect(kept.artifacts.toSorted()).toEqual(names.toSorted())
  expect(kept.tools.toSorted()).toEqual(names.toSorted())
  for (const name of names) expect(await kept.tokenOf(name)).toBe(name)
  expect(kept.trusted.length).toBe(names.length)
})
