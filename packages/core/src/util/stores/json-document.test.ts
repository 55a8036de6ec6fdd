import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { needsLinks, needsPosix } from '../../../test/support/suite/needs.ts'
import { JsonDocument } from './json-document.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

const parse = (json: unknown) => (Array.isArray(json) ? (json as number[]) : undefined)

describe('JsonDocument', () => {
  let folder: string
  let file: string
  beforeEach(() => {
    folder = newFolder()
    file = path.join(folder, 'deep/record.json')
  })
  const document = (damaged: 'empty' | { name: string; hint: string } = { name: 'The list', hint: 'Delete it.' }) =>
    new JsonDocument<number[]>({ document: file, empty: () => [], parse, damaged })

  it('a JSON document is empty while there is no file, and keeps its content for its owner only', async () => {
    expect(await document().read()).toEqual([])
    expect(await document().update((list) => void list.push(1))).toEqual([1])
    expect(await document().read()).toEqual([1])
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('a JSON document does not wait for a named pipe in its place', async () => {
    needsPosix('named pipes')
    mkdirSync(path.dirname(file))
    execFileSync('mkfifo', [file])
    await expect(document().read()).rejects.toThrow('The list cannot be read (not an ordinary file)')
    expect(await document('empty').update((list) => void list.push(1))).toEqual([1])
    expect(await document().read()).toEqual([1])
  })

  it('a JSON document loses nothing of many changes at once', async () => {
    const numbers = Array.from({ length: 30 }, (_, index) => index)
    await Promise.all(numbers.map((number) => document().update((list) => void list.push(number))))
    expect((await document().read()).toSorted((a, b) => a - b)).toEqual(numbers)
  })

  it('a damaged JSON document is reported and left as it is', async () => {
    await document().update(() => {})
    for (const text of ['{', '{"a": 1}']) {
      writeFileSync(file, text)
      const error = await document()
        .update((list) => void list.push(1))
        .catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'CONFIG_INVALID', hint: 'Delete it.' })
      expect(String(error)).toContain(file)
      expect(readFileSync(file, 'utf8')).toBe(text)
    }
  })

  it('a JSON document that would take seconds to parse is damaged, and a large one is read', async () => {
    const large = Array.from({ length: 400_000 }, (_, index) => index)
    await document().update(() => {})
    writeFileSync(file, JSON.stringify(large))
    const parsed = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parsed.mockRestore())
    expect(await document().read()).toEqual(large)
    expect(parsed).toHaveBeenCalledTimes(1)
    for (const part of ['[', '{"a":']) {
      writeFileSync(file, part.repeat(2_000_000))
      await expect(document().read()).rejects.toThrow('The list cannot be read: ')
      expect(await document('empty').read()).toEqual([])
    }
    expect(parsed).toHaveBeenCalledTimes(1)
  })

  it('a damaged JSON document starts over where all of it can be found out again', async () => {
    await document('empty').update((list) => void list.push(1))
    writeFileSync(file, '{')
    expect(await document('empty').read()).toEqual([])
    expect(await document('empty').update((list) => void list.push(2))).toEqual([2])
  })

  it('a JSON document is left as it was when a change fails', async () => {
    await document().update((list) => void list.push(1))
    await expect(document().update(() => Promise.reject(new Error('no')))).rejects.toThrow()
    expect(await document().read()).toEqual([1])
  })
})

it.each([
  ['no document', 'root:x:0:0::/root:/bin/sh\n', 'root:x:0:0::/root:/bin/sh\n'],
  ['an older document', '{"n": 0}', '{\n  "n": 1\n}\n'],
])('a document that is a link to %s leaves what is not its own as it is', async (_, before, after) => {
  needsLinks()
  const folder = newFolder()
  const target = path.join(folder, 'elsewhere')
  const file = path.join(folder, 'record.json')
  writeFileSync(target, before)
  symlinkSync(target, file)
  const document = new JsonDocument<{ n: number }>({
    document: file,
    empty: () => ({ n: 0 }),
    parse: (json) => json as { n: number },
    damaged: 'empty',
  })
  await document.update((value) => void (value.n = 1))
  expect(readFileSync(target, 'utf8')).toBe(after)
  expect(await document.read()).toEqual({ n: 1 })
})
