// The copy of one registry on disk: a header line, an index with one short line per server, then the servers, one per
// line. A search reads the index, and the servers that it found.
import { hash } from 'node:crypto'
import { open, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import * as z from 'zod'
import { makePrivateFolder, replaceFile } from '@sandbridge/core/util/files'
import { parseJson } from '@sandbridge/core/util/json/json.ts'
import type { RankedText } from './rank.ts'
import { type ListedServer, parseServerJson, type ServerJson } from '../server-json.ts'

const MAX_HEADER_BYTES = 4_096
const MAX_INDEX_BYTES = 256 << 20

const header = z.object({
  format: z.literal(1),
  registry: z.string(),
  /** The newest `updatedAt` in the copy: later changes are requested. */
  since: z.string().optional(),
  etag: z.string().optional(),
  readAt: z.number(),
  /** When everything was last read, instead of only changes. */
  wholeAt: z.number(),
  indexBytes: z.int().min(0).max(MAX_INDEX_BYTES),
})

export type CopyHeader = Omit<z.infer<typeof header>, 'format' | 'indexBytes'>

export interface IndexLine extends RankedText {
  offset: number
  length: number
  deprecated: boolean
}

/** Parses a line of the index. Most lines are only scanned, so a line is parsed only after it matches. */
export function parseIndexLine(line: string): IndexLine {
  const [offset, length, deprecated, name = '', title = '', description = ''] = line.split('\t')
  return { offset: Number(offset), length: Number(length), deprecated: deprecated === '1', name, title, description }
}

export class RegistryCopy {
  readonly #file: string

  /** @param folder the folder of all copies */
  constructor(folder: string, registry: string) {
    const digest = hash('sha256', registry).slice(0, 16)
    this.#file = path.join(folder, `${digest}.servers`)
  }

  /** Undefined when the copy is missing or damaged. */
  async header(): Promise<CopyHeader | undefined> {
    return this.#open(async (_, found) => found)
  }

  /** One line per server: see `parseIndexLine`. */
  async index(): Promise<string[] | undefined> {
    return this.#open(async (handle, { start, indexBytes }) => {
      const lines = (await readAt(handle, start, indexBytes)).toString().split('\n')
      lines.pop()
      return lines
    })
  }

  /** The servers of these index lines; unreadable ones are left out. */
  async servers(lines: readonly IndexLine[]): Promise<ServerJson[]> {
    const found = await this.#open(async (handle, { start, indexBytes }) =>
      Promise.all(
        lines.map(async ({ offset, length }) => {
          const text = await readAt(handle, start + indexBytes + offset, length)
          return parseServerJson(parseJson(text.toString()))
        }),
      ),
    )
    return (found ?? []).flatMap((server) => ('reason' in server ? [] : [server]))
  }

  /** Replaces the copy, with `changed` applied: by name, without deleted servers. */
  async write(about: CopyHeader, changed: readonly ListedServer[], isWhole: boolean): Promise<void> {
    const lines = isWhole ? [] : ((await this.index()) ?? []).map(parseIndexLine)
    const byName = new Map((await this.servers(lines)).map((server) => [server.name, { server, deprecated: false }]))
    for (const { name, deprecated } of lines) if (deprecated && byName.has(name)) byName.get(name)!.deprecated = true
    for (const { server, status, isLatest } of changed) {
      if (status === 'deleted') byName.delete(server.name)
      else if (isLatest) byName.set(server.name, { server, deprecated: status === 'deprecated' })
    }
    const index: string[] = []
    const data: string[] = []
    let offset = 0
    for (const { server, deprecated } of byName.values()) {
      const line = `${JSON.stringify(server)}\n`
      const length = Buffer.byteLength(line)
      const { name, title = '', description = '' } = server
      index.push(`${[offset, length, deprecated ? 1 : 0, name, title, description].join('\t')}\n`)
      data.push(line)
      offset += length
    }
    const indexText = index.join('')
    const first = JSON.stringify({ format: 1, ...about, indexBytes: Buffer.byteLength(indexText) })
    await makePrivateFolder(path.dirname(this.#file))
    await replaceFile(this.#file, [`${first}\n`, indexText, ...data].join(''))
  }

  async #open<T>(read: (handle: FileHandle, found: CopyHeader & Layout) => Promise<T>): Promise<T | undefined> {
    const handle = await open(this.#file, 'r').catch(() => undefined)
    if (!handle) return undefined
    try {
      const head = await readAt(handle, 0, MAX_HEADER_BYTES)
      const end = head.indexOf(0x0a)
      const parsed = header.safeParse(parseJson(head.subarray(0, Math.max(0, end)).toString()))
      return parsed.success ? await read(handle, { ...parsed.data, start: end + 1 }) : undefined
    } finally {
      await handle.close()
    }
  }
}

/** The position of the index in the file. */
interface Layout {
  start: number
  indexBytes: number
}

/** Returns less at the end of the file. */
async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const data = Buffer.alloc(length)
  const { bytesRead } = await handle.read(data, 0, length, position)
  return data.subarray(0, bytesRead)
}
