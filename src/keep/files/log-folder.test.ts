// This file verifies that a log deleted while it is opened has no lines, and that other failures are reported.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { LogFolder } from './log-folder.ts'

it('a log file is read as lines, a missing one as none, and a folder is an error', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'record-lines-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
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
