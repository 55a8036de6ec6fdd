import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { collectGarbage } from '../../../test/support/suite/collect-garbage.ts'
import { KeptTexts, TEXT_OVERHEAD_BYTES } from './kept-text.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

/** Text that does not compress below half its length. */
const noise = (chars: number) => randomBytes(chars / 2).toString('hex')

describe('KeptTexts', () => {
  let folder: string
  beforeEach(() => (folder = newFolder()))
  const files = () =>
    readdirSync(folder).flatMap((own) =>
      readdirSync(path.join(folder, own)).map((name) => path.join(folder, own, name)),
    )

  it('kept texts are not written to files while those of all sessions fit into memory', () => {
    const texts = new KeptTexts({ memoryBytes: 1_000_000, folder })
    const kept = texts.keep('é🚀'.repeat(10))
    expect(kept.read()).toBe('é🚀'.repeat(10))
    expect(readdirSync(folder)).toEqual([])
  })

  it('kept texts are moved to files of the owner, the oldest first, and read back', () => {
    const texts = new KeptTexts({ memoryBytes: 50_000, folder })
    const all = Array.from({ length: 10 }, () => noise(40_000))
    const kept = all.map((text) => texts.keep(text))
    expect(files().length).toBeGreaterThanOrEqual(7)
    if (process.platform !== 'win32') for (const file of files()) expect(statSync(file).mode & 0o077).toBe(0)
    expect(kept.map((text) => text.read())).toEqual(all)
  })

  it('kept texts take no more memory for buffers than is counted, for compressed texts and for short ones', async () => {
    const texts = new KeptTexts({ memoryBytes: 2 ** 30, folder })
    await collectGarbage()
    const before = process.memoryUsage().arrayBuffers
    const kept = Array.from({ length: 2_000 }, (_, index) => texts.keep(index % 2 ? 'short' : 'y'.repeat(20_000)))
    const counted = kept.reduce((sum, { length }) => sum + length, 0)
    await collectGarbage()
    const grown = process.memoryUsage().arrayBuffers - before
    expect(kept.every((text) => text.read() !== undefined)).toBe(true)
    expect(grown).toBeLessThan(counted)
  })

  it('the file of a kept text is removed when the text is dropped, and all files at the end', () => {
    const texts = new KeptTexts({ memoryBytes: 10, folder })
    const first = texts.keep('first text')
    texts.keep('second text')
    texts.keep('third text')
    expect(files().length).toBe(2)
    first.drop()
    expect(files().length).toBe(1)
    expect(first.read()).toBeUndefined()
    texts.close()
    expect(readdirSync(folder)).toEqual([])
  })

  it('the oldest kept text is dropped when the files reach their limit', () => {
    const diskBytes = 2 * (10 + TEXT_OVERHEAD_BYTES)
    const texts = new KeptTexts({ memoryBytes: 10, folder, diskBytes })
    const kept = ['aaaaaaaaaa', 'bbbbbbbbbb', 'cccccccccc', 'dddddddddd', 'e'].map((text) => texts.keep(text))
    expect(kept.map((text) => text.read())).toEqual([undefined, undefined, 'cccccccccc', 'dddddddddd', 'e'])
  })

  it('a kept text is dropped when it cannot be written or its file is gone', () => {
    const blocked = path.join(folder, 'file')
    const texts = new KeptTexts({ memoryBytes: 10, folder })
    const [first] = [texts.keep('first text'), texts.keep('second text')]
    rmSync(folder, { recursive: true })
    expect(first.read()).toBeUndefined()
    const unwritable = new KeptTexts({ memoryBytes: 10, folder: path.join(blocked, '\0') })
    const [lost, last] = [unwritable.keep('first text'), unwritable.keep('second text')]
    expect([lost.read(), last.read()]).toEqual([undefined, 'second text'])
  })

  it('kept texts of a killed bridge are removed, and not those of a running one', () => {
    const [dead, alive] = [path.join(folder, '999999999-x'), path.join(folder, `${process.ppid}-x`)]
    mkdirSync(dead)
    mkdirSync(alive)
    const texts = new KeptTexts({ memoryBytes: 1, folder })
    texts.keep('first')
    texts.keep('second')
    expect([existsSync(dead), existsSync(alive)]).toEqual([false, true])
  })
})
