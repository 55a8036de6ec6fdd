// This file verifies that a file of the record which is pruned while it is looked for has no lines, and that other failures are told.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { linesOf } from './record-lines.ts'

it('a record file is read as lines, a missing one as none, and a folder is an error', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'record-lines-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'a.jsonl')
  writeFileSync(file, 'one\ntwo\n')
  const read = async (name: string): Promise<string[]> => {
    const lines: string[] = []
    for await (const line of linesOf(name)) lines.push(line)
    return lines
  }
  expect(await read(file)).toEqual(['one', 'two'])
  expect(await read(path.join(folder, 'gone.jsonl'))).toEqual([])
  await expect(read(folder)).rejects.toThrow('EISDIR')
})
