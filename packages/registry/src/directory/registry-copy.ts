// The copy of one registry on disk: compressed JSON, which a search reads as a whole.
import { hash } from 'node:crypto'
import path from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import * as z from 'zod'
import { makePrivateFolder, readOrdinary, replaceFile } from '@sandbridge/core/util/files'
import { parseJson } from '@sandbridge/core/util/json/json.ts'
import type { ListedServer, ServerJson } from '../server/server-json.ts'

export interface CopiedServer {
  /** As an earlier version of this program may have written it. */
  server: ServerJson
  deprecated: boolean
}

const copied = z.object({
  registry: z.string(),
  /** The newest `updatedAt` in the copy: later changes are requested. */
  since: z.string().optional(),
  etag: z.string().optional(),
  readAt: z.number(),
  /** When everything was last read, instead of only changes. */
  wholeAt: z.number(),
  servers: z.array(z.custom<CopiedServer>((one) => typeof (one as CopiedServer | null)?.server?.name === 'string')),
})

export type Copied = z.infer<typeof copied>

export class RegistryCopy {
  readonly #file: string

  /** @param folder the folder of all copies */
  constructor(folder: string, registry: string) {
    this.#file = path.join(folder, `${hash('sha256', registry).slice(0, 16)}.json.gz`)
  }

  /** Undefined when the copy is missing or damaged. */
  async read(): Promise<Copied | undefined> {
    const text = await readOrdinary(this.#file)
      .then((packed) => promisify(gunzip)(packed))
      .then(String, () => '')
    return copied.safeParse(parseJson(text)).data
  }

  /** Replaces the copy. @param changed is applied to its servers: by name, without deleted ones */
  async write({ servers, ...about }: Copied, changed: readonly ListedServer[]): Promise<void> {
    const byName = new Map(servers.map((one) => [one.server.name, one]))
    for (const { server, status, isLatest } of changed) {
      if (status === 'deleted') byName.delete(server.name)
      else if (isLatest) byName.set(server.name, { server, deprecated: status === 'deprecated' })
    }
    const packed = await promisify(gzip)(JSON.stringify({ ...about, servers: [...byName.values()] }))
    makePrivateFolder(path.dirname(this.#file))
    await replaceFile(this.#file, packed)
  }
}
