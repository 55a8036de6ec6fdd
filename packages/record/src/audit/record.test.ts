// This file verifies that tampering with the record is detected: RecordFile writes files, and the tests change them.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Audit } from './audit.ts'
import { linkLine, readLine } from './chain.ts'
import { pruneRecord } from './other-files.ts'
import { readRecord } from './read-record.ts'
import { RECORD_LIMITS, RecordFile } from './record-file.ts'
import { verifyRecord } from './verify-record.ts'
import { LogFolder } from '../../../core/src/util/stores/files/log-folder.ts'
import type { BridgeEvent } from '../../../core/src/observe/events/event.ts'
import { needsPosix, skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

function makeFolder(): string {
  const folder = newFolder()
  return path.join(folder, 'audit')
}

function openRecord(folder: string, limits = RECORD_LIMITS): RecordFile {
  return new RecordFile({ logs: new LogFolder(folder), about: { 'service.name': 'sandbridge' }, sync: false, limits })
}

const entry = (index: number, type = 'call') => ({ time: new Date(1e12 + index * 1000).toISOString(), type, index })

/** Writes a closed record of `count` entries. @returns its only file */
async function written(folder: string, count = 5): Promise<string> {
  const record = openRecord(folder)
  for (let index = 0; index < count; index += 1) record.add(entry(index))
  await record.close()
  return path.join(folder, readdirSync(folder).toSorted().at(-1)!)
}

const linesOf = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\n')
const rewrite = (file: string, lines: readonly string[]) => writeFileSync(file, `${lines.join('\n')}\n`)

/** Returns the kinds of findings of `--verify`. */
async function findings(folder: string): Promise<string[]> {
  const { problems, remarks } = await verifyRecord(new LogFolder(folder), () => false)
  return [...problems, ...remarks].map(({ kind, line }) => (line === undefined ? kind : `${kind} ${line}`))
}

describe('a record', () => {
  it('the record is kept in files that only its owner can read, and its check finds nothing wrong', async () => {
    const folder = makeFolder()
    const file = await written(folder)
    if (process.platform !== 'win32') {
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(statSync(folder).mode & 0o777).toBe(0o700)
    }
    expect(linesOf(file)).toHaveLength(7)
    expect(await verifyRecord(new LogFolder(folder))).toEqual({ files: 1, lines: 7, problems: [], remarks: [] })
  })

  it('a text that a cell or a client chooses makes no long line of the record', async () => {
    const folder = makeFolder()
    const record = openRecord(folder)
    const name = 'E'.repeat(1 << 20)
    const code = 'c'.repeat(100_000)
    record.add({ ...entry(0, 'run'), error: { code: name }, client: name, code })
    await record.close()
    const line = linesOf(path.join(folder, readdirSync(folder)[0]!))[1]!
    expect(line.length).toBeLessThan(150_000)
    expect(readLine(line)?.fields).toMatchObject({ code })
    expect(line).toContain('E… (1048576 characters)')
    expect(await verifyRecord(new LogFolder(folder))).toMatchObject({ lines: 3, problems: [] })
  })

  it('the record writes no file when nothing has happened', async () => {
    const folder = makeFolder()
    await openRecord(folder).close()
    expect(await verifyRecord(new LogFolder(folder))).toMatchObject({ files: 0, lines: 0 })
  })

  it('the check of a record finds an edited line, also one with a new hash', async () => {
    const folder = makeFolder()
    const file = await written(folder)
    const lines = linesOf(file)
    rewrite(file, lines.with(2, lines[2]!.replace('"index":1', '"index":9')))
    expect(await findings(folder)).toEqual(['edited 3'])
    const { fields, n, prev } = readLine(lines[2]!)!
    const { n: _n, prev: _prev, ...rest } = fields
    rewrite(file, lines.with(2, linkLine(JSON.stringify({ ...rest, index: 9 }), { n, prev }).line))
    expect(await findings(folder)).toEqual(['edited 4'])
  })

  it('the check of a record finds lines that were cut out and lines that were moved', async () => {
    const folder = makeFolder()
    const file = await written(folder)
    const lines = linesOf(file)
    rewrite(file, lines.toSpliced(2, 2))
    expect(await findings(folder)).toEqual(['cut 3'])
    rewrite(file, lines.toSpliced(2, 2, lines[3]!, lines[2]!))
    expect(await findings(folder)).toEqual(['cut 3', 'reordered 4', 'cut 5'])
    rewrite(file, lines.slice(1))
    expect(await findings(folder)).toEqual(['cut 1'])
    rewrite(file, lines.toSpliced(3, 0, '{"n":4,"type":"call"}'))
    expect(await findings(folder)).toEqual(['not-a-line 4'])
  })

  it('the check of a record finds a lost end: by the missing last line, and by what a later bridge has seen', async () => {
    const folder = makeFolder()
    const file = await written(folder)
    const lines = linesOf(file)
    rewrite(file, lines.slice(0, -2))
    expect(await findings(folder)).toEqual(['unclosed'])
    rewrite(file, lines)
    await written(folder)
    expect(await findings(folder)).toEqual([])
    rewrite(file, lines.slice(0, -2))
    expect(await findings(folder)).toEqual(['cut', 'unclosed'])
    rmSync(file)
    expect(await findings(folder)).toEqual(['missing-file'])
  })

  it('the record goes on in another file when one is full, and its check finds a file that is missing or cut', async () => {
    const folder = makeFolder()
    const record = openRecord(folder, { ...RECORD_LIMITS, fileBytes: 1_000 })
    for (let index = 0; index < 20; index += 1) {
      record.add(entry(index))
      await record.flush()
    }
    await record.close()
    const names = readdirSync(folder).toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    expect(names.length).toBeGreaterThan(3)
    expect(await findings(folder)).toEqual([])
    const entries = await readRecord(new LogFolder(folder), {}, 100)
    expect(entries.map(({ fields }) => fields['index'])).toEqual(Array.from({ length: 20 }, (_, index) => index))
    const second = path.join(folder, names[1]!)
    const lines = linesOf(second)
    rewrite(second, lines.slice(0, -1))
    expect(await findings(folder)).toEqual(['cut'])
    rmSync(second)
    expect(await findings(folder)).toContain('missing-file')
  })

  it('several bridges write one record at once, each in a chain of its own', async () => {
    const folder = makeFolder()
    const records = [openRecord(folder), openRecord(folder), openRecord(folder)]
    await Promise.all(
      records.map(async (record, bridge) => {
        for (let index = 0; index < 50; index += 1) {
          record.add(entry(index * 3 + bridge))
          await record.flush()
        }
        await record.close()
      }),
    )
    expect(await verifyRecord(new LogFolder(folder))).toMatchObject({ files: 3, lines: 156, problems: [], remarks: [] })
    const newest = await readRecord(new LogFolder(folder), {}, 10)
    expect(newest.map(({ fields }) => fields['index'])).toEqual([140, 141, 142, 143, 144, 145, 146, 147, 148, 149])
  })

  it('the record is pruned from its oldest file on, and says so', async () => {
    const folder = makeFolder()
    await written(folder)
    const [first] = readdirSync(folder)
    expect(await pruneRecord(new LogFolder(folder), 10)).toEqual([first])
    expect(readdirSync(folder)).toEqual([])
  })

  it('what a long session wrote just now is not pruned before what a short one wrote long ago', async () => {
    const folder = makeFolder()
    const ofShort = await written(folder)
    const name = '20200101T000000Z-1-abcdef-12.jsonl'
    writeFileSync(path.join(folder, name), '{}\n')
    utimesSync(ofShort, 1, 1)
    expect(await pruneRecord(new LogFolder(folder), 10)).toEqual([path.basename(ofShort)])
    expect(readdirSync(folder)).toEqual([name])
  })

  it('lines that follow the removal of the open file are kept in the next file of the chain', async () => {
    needsPosix('Windows lets no open file be removed')
    const folder = makeFolder()
    const record = openRecord(folder)
    record.add(entry(0))
    await record.flush()
    const [gone] = await pruneRecord(new LogFolder(folder), 0)
    for (const index of [1, 2]) {
      record.add(entry(index))
      await record.flush()
    }
    await record.close()
    const [file, ...others] = readdirSync(folder)
    expect(others).toEqual([])
    const lines = linesOf(path.join(folder, file!)).map((line) => readLine(line)!.fields)
    expect(lines.map(({ type, index }) => index ?? type)).toEqual(['record.opened', 1, 2, 'record.closed'])
    expect(lines[0]).toMatchObject({ 'sandbridge.continues': { file: gone } })
    expect(await findings(folder)).toEqual(['missing-file'])
  })

  it('the names of pruned files are handed on when the file that has them is pruned, and not without end', async () => {
    const folder = makeFolder()
    const file = await written(folder)
    const opened = (names: string[]) => {
      const fields = JSON.stringify({ type: 'record.opened', 'sandbridge.pruned': names })
      writeFileSync(file, `${linkLine(fields, { n: 1, prev: '0'.repeat(64) }).line}\n`)
    }
    opened(['old.jsonl', 'older.jsonl'])
    expect(await pruneRecord(new LogFolder(folder), 0)).toEqual([path.basename(file), 'old.jsonl', 'older.jsonl'])
    opened(Array.from({ length: 10_000 }, (_, index) => `${index}.jsonl`))
    expect(await pruneRecord(new LogFolder(folder), 0)).toHaveLength(500)
  })

  it('the record keeps to its limit while one bridge writes, and its check knows which files are gone', async () => {
    const folder = makeFolder()
    const record = openRecord(folder, { ...RECORD_LIMITS, fileBytes: 1_000, totalBytes: 5_000 })
    for (let index = 0; index < 100; index += 1) {
      record.add(entry(index))
      await record.flush()
    }
    await record.close()
    const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0)
    expect(bytes).toBeLessThan(8_000)
    expect(await findings(folder)).toEqual([])
    expect((await readRecord(new LogFolder(folder), {}, 1)).map(({ fields }) => fields['index'])).toEqual([99])
  })

  it('what is no file has no place in the record, and ends no reading of it', async () => {
    const folder = makeFolder()
    const file = await written(folder)
    mkdirSync(file.replace('-1.jsonl', '-2.jsonl'))
    symlinkSync('nowhere', file.replace('-1.jsonl', '-3.jsonl'))
    expect(await readRecord(new LogFolder(folder), {}, 10)).toHaveLength(5)
    expect(await findings(folder)).toEqual([])
  })

  it('the record counts the lines that found no room, and loses none while there is room', async () => {
    const folder = makeFolder()
    const record = openRecord(folder, { ...RECORD_LIMITS, waitingLines: 3 })
    for (let index = 0; index < 5; index += 1) record.add(entry(index))
    await record.close()
    expect(await findings(folder)).toEqual(['lines-lost 5'])
    expect(await readRecord(new LogFolder(folder), {}, 10)).toHaveLength(3)
  })

  it('an event that no line can be made of takes no others with it: the record tells of a gap', async () => {
    const folder = makeFolder()
    const failures: unknown[] = []
    const redact = (_server: string, text: string) => text
    const logs = new LogFolder(folder)
    const onFailing = (error?: unknown) => failures.push(error)
    const audit = new Audit({ logs, version: '1', required: false, full: true, replay: false, redact, onFailing })
    const about = { seq: 1, mono: 1, at: 1, id: 'q', type: 'sign-in', outcome: 'ok' }
    const events = ['before', { toJSON: () => JSON.parse('x') as unknown }, 'after'].map((server) => ({
      ...about,
      server,
    }))
    audit.receive(events.map((event) => ({ event: event as unknown as BridgeEvent })))
    await audit.close()
    const lines = linesOf(path.join(folder, readdirSync(folder)[0]!)).map((line) => readLine(line)?.fields)
    expect(lines.map((fields) => fields?.['server'] ?? fields?.['sandbridge.lines'])).toEqual([
      undefined,
      'before',
      'after',
      1,
      undefined,
    ])
    expect(failures[0]).toBeInstanceOf(SyntaxError)
  })

  it('the record stays whole on a full disk, and goes on when there is room again', async () => {
    const disk = newFolder()
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=400k', 'tmpfs', disk]).status === 0
    onTestFinished(() => {
      // Lazy unmount: a reader may close its file a moment later.
      if (mounted) spawnSync('umount', ['-l', disk])
      rmSync(disk, { recursive: true, force: true })
    })
    if (!mounted) skip('this machine does not let its root mount a disk')
    const folder = path.join(disk, 'audit')
    const record = openRecord(folder)
    record.add(entry(0))
    await record.flush()
    const ballast = path.join(disk, 'ballast')
    spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=1k', 'count=500'])
    for (let index = 1; index < 200; index += 1) record.add({ ...entry(index), filler: 'x'.repeat(100) })
    await expect(record.flush()).rejects.toMatchObject({ code: 'ENOSPC' })
    expect((await verifyRecord(new LogFolder(folder))).problems).toEqual([])
    rmSync(ballast)
    await record.flush()
    await record.close()
    expect(await findings(folder)).toEqual([])
    expect(await readRecord(new LogFolder(folder), {}, 1_000)).toHaveLength(200)
  })

  it('the record of a bridge that was killed while it wrote ends in half a line at most', async () => {
    const folder = makeFolder()
    const file = await written(folder)
    const lines = linesOf(file)
    writeFileSync(file, `${lines.slice(0, 4).join('\n')}\n${lines[4]!.slice(0, 30)}`)
    expect(await findings(folder)).toEqual(['incomplete-line 5', 'unclosed'])
    expect(await readRecord(new LogFolder(folder), {}, 10)).toHaveLength(3)
  })
})
