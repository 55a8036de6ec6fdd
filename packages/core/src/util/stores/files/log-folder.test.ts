// This file verifies which lines a log has: none if it was deleted while it was opened, and each whole, whatever is in
// it.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { LogFolder } from './log-folder.ts'
import { newFolder } from '../../../../test/support/machine/new-folder.ts'

it('only a line feed ends a line of a log, and a line can be longer than what is read at once', async () => {
  const folder = newFolder()
  const lines = ['a\u2028b\u2029c\u0085d\re', 'x'.repeat(200_000), '', 'ü'.repeat(100_001), 'end']
  writeFileSync(path.join(folder, 'a.jsonl'), lines.join('\n'))
  const read: string[] = []
  for await (const line of new LogFolder(folder).lines('a.jsonl')) read.push(line)
  expect(read).toEqual(lines)
})

it('what follows a very long line of a log is found', async () => {
  const folder = newFolder()
  writeFileSync(path.join(folder, 'a.jsonl'), `${'x'.repeat(5 << 20)}\nnext\n`)
  const log = new LogFolder(folder)
  const first = await log.linesAfter('a.jsonl', 0)
  expect(first.lines).toEqual([])
  expect((await log.linesAfter('a.jsonl', first.place)).lines.at(-1)).toBe('next')
})

it('the last line of a log is found whole, however long it is', async () => {
  const folder = newFolder()
  const log = new LogFolder(folder)
  for (const line of ['x'.repeat(600_000), 'y'.repeat(65_535), 'short']) {
    for (const before of ['', 'z'.repeat(100_000) + '\n'])
      for (const after of ['', 'torn', 't'.repeat(70_000)]) {
        writeFileSync(path.join(folder, 'a.jsonl'), `${before}${line}\n${after}`)
        expect(await log.lastLine('a.jsonl')).toBe(line)
      }
  }
})

it('a log file is read as lines, a missing one as none, and a folder is an error', async () => {
  const folder = newFolder()
  writeFileSync(path.join(folder, 'a.jsonl'), 'one\ntwo\n')
  const read = async (name: string): Promise<string[]> => {
    const lines: string[] = []
    for await (const line of new LogFolder(folder).lines(name)) lines.push(line)
    return lines
  }
  expect(await read('a.jsonl')).toEqual(['one', 'two'])
  expect(await read('gone.jsonl')).toEqual([])
  await expect(read('.')).rejects.toThrow('EISDIR')
})
