// Logs as files in a folder. Each writer has its own file, so that several on one machine need no lock.
import { createReadStream } from 'node:fs'
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { readPiece } from '../../files/read-ordinary.ts'
import { makePrivateFolder } from '../../files/private-folder.ts'
import type { LogInfo, Logs, LogWriter } from '../store.ts'

const MAX_READ_BYTES = 4 << 20
/** Enough for almost every line. */
const TAIL_BYTES = 64 << 10

export class LogFolder implements Logs {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  async list(): Promise<LogInfo[]> {
    const names = await readdir(this.#folder).catch(() => [])
    const found = await Promise.all(
      names.map(async (name) => {
        const about = await stat(this.#file(name)).catch(() => undefined)
        // Somebody may have made a folder of such a name, or a file that is gone by now.
        if (!about?.isFile()) return []
        return { name, bytes: about.size, changedAt: about.mtimeMs, end: about.size }
      }),
    )
    return found.flat()
  }

  async *lines(name: string): AsyncGenerator<string> {
    // Not by node:readline, which also ends lines at U+2028: a text could take its line out of the log.
    const pieces: string[] = []
    try {
      for await (const piece of createReadStream(this.#file(name), 'utf8') as AsyncIterable<string>) {
        const [end, ...begun] = piece.split('\n')
        pieces.push(end!)
        if (begun.length === 0) continue
        yield pieces.join('')
        pieces.splice(0, pieces.length, begun.pop()!)
        yield* begun
      }
      if (pieces.some((piece) => piece !== '')) yield pieces.join('')
    } catch (error) {
      // An old log may be deleted meanwhile.
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    }
  }

  async linesAfter(name: string, place: number): Promise<{ lines: string[]; place: number }> {
    const text = await this.#bytes(name, () => ({ offset: place, length: MAX_READ_BYTES }))
    // A line that is still being written comes with the next call.
    const whole = text.subarray(0, text.lastIndexOf(0x0a) + 1)
    // One that is longer than a whole piece is left out, and what comes after it is found.
    if (whole.length === 0 && text.length === MAX_READ_BYTES) return { lines: [], place: place + text.length }
    return { lines: whole.length === 0 ? [] : whole.toString().trimEnd().split('\n'), place: place + whole.length }
  }

  async lastLine(name: string): Promise<string | undefined> {
    for (let length = TAIL_BYTES; ; length *= 8) {
      const text = await this.#bytes(name, (size) => ({ offset: Math.max(0, size - length), length }))
      const lines = text.toString().split('\n')
      // What comes before the first LF may be the end of a line.
      if (lines.length > 2 || text.length < length) return lines.slice(0, -1).at(-1)
    }
  }

  async isTorn(name: string): Promise<boolean> {
    const end = await this.#bytes(name, (size) => ({ offset: Math.max(0, size - 1), length: 1 }))
    return end.length > 0 && end[0] !== 0x0a
  }

  async create(name: string, isSynced: boolean): Promise<LogWriter> {
    // Its parent belongs to the bridge, too.
    makePrivateFolder(path.dirname(this.#folder))
    makePrivateFolder(this.#folder)
    return new LogFileWriter(await open(this.#file(name), 'ax', 0o600), isSynced)
  }

  async remove(name: string): Promise<void> {
    await rm(this.#file(name), { force: true }).catch(() => {})
  }

  /** Empty if the file is gone. */
  #bytes(name: string, piece: (size: number) => { offset: number; length: number }): Promise<Buffer> {
    return readPiece(this.#file(name), piece).then(
      ({ data }) => data,
      (cause: NodeJS.ErrnoException) => {
        if (cause.syscall === 'open') return Buffer.alloc(0)
        throw cause
      },
    )
  }

  #file(name: string): string {
    return path.join(this.#folder, name)
  }
}

class LogFileWriter implements LogWriter {
  readonly #handle: FileHandle
  readonly #isSynced: boolean
  #bytes = 0

  constructor(handle: FileHandle, isSynced: boolean) {
    this.#handle = handle
    this.#isSynced = isSynced
  }

  /** Removes a batch that a full disk wrote only in part. */
  async append(lines: readonly string[]): Promise<number | undefined> {
    // Systems other than Windows let an open file be removed. What is written to it then is lost.
    if ((await this.#handle.stat()).nlink === 0) return undefined
    const data = Buffer.from(lines.map((line) => `${line}\n`).join(''))
    try {
      await this.#handle.appendFile(data)
      if (this.#isSynced) await this.#handle.datasync()
    } catch (error) {
      await this.#handle.truncate(this.#bytes).catch(() => {})
      throw error
    }
    this.#bytes += data.length
    return this.#bytes
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}
