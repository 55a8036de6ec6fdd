// What a result says once about unreadable files of servers, and about those of other MCP clients.
import path from 'node:path'
import { type ClientFile, otherClientFiles, otherClientsNote } from './other-clients.ts'
import type { DiscoveredServers } from '../entries/server-definition.ts'
import { unreadFiles } from './unread-files.ts'
import { JsonRecord } from '../../keep/json-record.ts'
import { itemsOf } from '../../util/json/json.ts'

export class FileNews {
  /** The clients that a bridge on this machine has told of: a new conversation is not told again. */
  readonly #clients: JsonRecord<string[]>
  #told = new Set<string>()
  #last: DiscoveredServers | undefined

  constructor(stateDir: string) {
    this.#clients = new JsonRecord({
      document: path.join(stateDir, '.sandbridge', 'told-clients.json'),
      empty: () => [],
      parse: (json) => itemsOf(json).filter((client) => typeof client === 'string'),
      damaged: 'empty',
    })
  }

  /** The notes for the next result. Never rejects. */
  async next(discovered: DiscoveredServers): Promise<string[]> {
    if (discovered === this.#last) return []
    this.#last = discovered
    const unread = unreadFiles(discovered.skipped)
    const news = unread.filter((line) => !this.#told.has(line))
    this.#told = new Set(unread)
    const clients = await this.#newClients(otherClientFiles(discovered.servers))
    return [...news, ...otherClientsNote(clients)].map((line) => `${line} Tell the user.`)
  }

  async #newClients(files: readonly ClientFile[]): Promise<ClientFile[]> {
    if (files.length === 0) return []
    const known = new Set(await this.#clients.read())
    const unknown = files.filter(({ client }) => !known.has(client))
    if (unknown.length === 0) return []
    // Where the record cannot be written, the next bridge tells it again.
    await this.#clients.update((told) => void told.push(...unknown.map(({ client }) => client))).catch(() => {})
    return unknown
  }
}
