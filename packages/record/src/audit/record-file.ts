// Writes one bridge's record files: append-only, with a new file when one is full. Each bridge has its own files, so
// they need no lock. A line joins the chain when it is written; lines that a full disk rejects are written later, or
// counted as lost.
import { randomBytes } from 'node:crypto'
import { hostId } from '@sandbridge/core/util/process'
import { shortened } from '@sandbridge/core/util/text'
import type { Logs, LogWriter } from '@sandbridge/core/util/stores'
import { linkLine, NO_LINE } from './chain.ts'
import { pruneRecord, witnesses } from './other-files.ts'
import type { Fields } from './record-fields.ts'

export interface RecordLimits {
  fileBytes: number
  /** For all files of the record together. Beyond it the oldest are deleted, and the next first line lists them. */
  totalBytes: number
  /** Most lines that wait while the disk is full. */
  waitingLines: number
}

export const RECORD_LIMITS: RecordLimits = { fileBytes: 8 << 20, totalBytes: 256 << 20, waitingLines: 10_000 }

const MAX_BATCH = 1_000

interface RecordFileOptions {
  logs: Logs
  /** Fields for the first line of each file. */
  about: Fields
  /** Sync each batch to the disk. */
  sync: boolean
  limits: RecordLimits
}

/** Limits of their own hold for these. */
const LONG_FIELDS = new Set(['code', 'args', 'result'])
const MAX_FIELD_CHARS = 8_192

/** A cell chooses the names of its exceptions, and so could write a line that fills the record. */
function lineOf(fields: Fields): string {
  const line = JSON.stringify(fields)
  if (line.length <= MAX_FIELD_CHARS) return line
  return JSON.stringify(fields, function shorten(this: unknown, key, value: unknown) {
    const isLong = this === fields && LONG_FIELDS.has(key)
    return typeof value === 'string' && !isLong ? shortened(value, MAX_FIELD_CHARS) : value
  })
}

export class RecordFile {
  readonly #options: RecordFileOptions
  readonly #startedAt = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')
  readonly #suffix = `${process.pid}-${randomBytes(3).toString('hex')}`
  #writer: LogWriter | undefined
  #file = ''
  #fileCount = 0
  #bytes = 0
  #n = 0
  #prev = NO_LINE
  /** As text: the garbage collector would move thousands of waiting objects piece by piece. */
  #waiting: string[] = []
  #lost = 0
  #writing: Promise<void> | undefined

  constructor(options: RecordFileOptions) {
    this.#options = options
  }

  /** Number of lines not yet written. */
  get waitingCount(): number {
    return this.#waiting.length
  }

  /** Queue a line for the next `flush`. */
  add(fields: Fields): void {
    if (this.#waiting.length < this.#options.limits.waitingLines) this.#waiting.push(lineOf(fields))
    else this.lose()
  }

  /** Count a line that cannot be had, for the line that tells of a gap. */
  lose(): void {
    this.#lost += 1
  }

  /**
   * Resolves when all lines added so far are written.
   * @throws what node:fs throws, or BridgeError; the lines are then kept for the next flush
   */
  async flush(): Promise<void> {
    // Lines added during a write go with the next one.
    await this.#writing?.catch(() => {})
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined))
    await this.#writing
  }

  /** Writes a closing line. If it is missing, the bridge was killed or lines were removed. */
  async close(): Promise<void> {
    await this.flush()
    if (!this.#writer) return
    this.add({ time: now(), type: 'record.closed' })
    await this.flush()
    await this.#writer.close()
    this.#writer = undefined
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0 || this.#lost > 0) {
      if (!this.#writer || this.#bytes >= this.#options.limits.fileBytes) await this.#openNext()
      const batch = this.#waiting.slice(0, MAX_BATCH)
      // Lost lines came after all that wait.
      const lost = batch.length === this.#waiting.length ? this.#lost : 0
      const gap = lost > 0 ? [JSON.stringify({ time: now(), type: 'record.gap', 'sandbridge.lines': lost })] : []
      if (!(await this.#append([...batch, ...gap], this.#writer!))) {
        // Another bridge has removed the file, to make room.
        await this.#openNext()
        continue
      }
      this.#waiting.splice(0, batch.length)
      this.#lost -= lost
    }
  }

  async #openNext(): Promise<void> {
    const { logs, about, sync, limits } = this.#options
    const last = { file: this.#file, hash: this.#prev }
    const pruned = await pruneRecord(logs, limits.totalBytes)
    const seen = this.#fileCount === 0 ? await witnesses(logs) : []
    const file = `${this.#startedAt}-${this.#suffix}-${this.#fileCount + 1}.jsonl`
    const writer = await logs.create(file, sync)
    const opened = {
      time: now(),
      type: 'record.opened',
      ...about,
      'process.pid': process.pid,
      'sandbridge.host': hostId(),
      ...(last.file !== '' && { 'sandbridge.continues': last }),
      ...(seen.length > 0 && { 'sandbridge.witnessed': seen }),
      ...(pruned.length > 0 && { 'sandbridge.pruned': pruned }),
    }
    try {
      if (!(await this.#append([JSON.stringify(opened)], writer))) throw new Error(`${file} was removed`)
    } catch (error) {
      await writer.close()
      await logs.remove(file).catch(() => {})
      throw error
    }
    await this.#writer?.close()
    this.#writer = writer
    this.#file = file
    this.#fileCount += 1
  }

  /** @returns false if the file was removed */
  async #append(batch: readonly string[], writer: LogWriter): Promise<boolean> {
    let prev = this.#prev
    const lines = batch.map((fields, index) => {
      const { line, hash } = linkLine(fields, { n: this.#n + index + 1, prev })
      prev = hash
      return line
    })
    const bytes = await writer.append(lines)
    if (bytes === undefined) return false
    this.#bytes = bytes
    this.#n += batch.length
    this.#prev = prev
    return true
  }
}

const now = (): string => new Date().toISOString()
