// What the result of a cell tells beside it, once: changed files, an updated package, rules that match nothing.
import type { Session } from '../../cell/session/session.ts'
import type { Policy } from '../../config/rules/policy.ts'
import type { BridgeError } from '../../errors.ts'
import type { Cell } from './cell.ts'
import type { ServerSet } from '../tenants/server-set.ts'
import { readFileSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { fieldsOf, parseJson, itemsOf } from '../../util/json/json.ts'
import { VERSION } from '../../util/package-root.ts'
import { type ClientFile, otherClientFiles, otherClientsNote, unreadFiles } from '../../config/notes/other-clients.ts'
import type { DiscoveredServers } from '../../config/entries/server-definition.ts'
import { look } from '../../config/places-seen.ts'
import { JsonDocument } from '../../util/stores/json-document.ts'
import { orUndefined } from '../../util/or-undefined.ts'

/** Rules that are told of in one result, and the characters of each. */
const MAX_RULES = 3
const MAX_CHARS = 400

export class CellNews {
  readonly #stateDir: string
  /** Changed settings that take effect later, by their number. */
  readonly #settings = new Map<string, number>()
  #settingsCount = 0
  /** What was told of files, and up to which number of settings. Clients of a resident bridge are each told. */
  readonly #told = new WeakMap<ServerSet, { files: FileNews; package: PackageNews; settings: number }>()

  /** Servers of which a session was told the rules that match nothing. */
  readonly #checked = new WeakMap<Session, { policy: Policy | undefined; servers: ReadonlySet<string> }>()
  readonly #waiting = new WeakMap<object, Set<string>>()

  constructor(stateDir: string) {
    this.#stateDir = stateDir
  }

  /** @param notes say which changes of settings take effect later */
  settingsChanged(notes: readonly string[]): void {
    for (const note of notes) this.#settings.set(note, (this.#settingsCount += 1))
  }

  /** What the owner of these servers was not told yet. */
  async next({ set, tenant }: Pick<Cell, 'set' | 'tenant'>): Promise<string[]> {
    const told = this.#told.get(set) ?? {
      files: new FileNews(this.#stateDir),
      package: new PackageNews(tenant.context.ownPaths[0]),
      settings: 0,
    }
    this.#told.set(set, told)
    const settings = [...this.#settings].flatMap(([note, number]) => (number > told.settings ? [note] : []))
    told.settings = this.#settingsCount
    const files = await told.files.next(set.configured.discovered)
    return [...files, ...settings, ...told.package.next()]
  }

  /** Rules that match no tool, of servers that the session has called; each told once. */
  ofRules({ session, set: { rules }, tenant, called: { servers }, origin }: Cell): string[] {
    const policy = rules.policyOf(tenant.person.rules)
    const known = this.#checked.get(session)
    const checked = known && known.policy === policy ? known.servers : new Set<string>()
    if ([...servers].every((server) => checked.has(server))) return []
    this.#checked.set(session, { policy, servers: new Set([...checked, ...servers]) })
    const waited = this.#waiting.get(rules) ?? new Set<string>()
    this.#waiting.set(rules, waited)
    const news = rules.unmatched(policy).filter(({ message, about, isWaiting }) => {
      const told = isWaiting ? waited : session.told
      if (told.has(message) || (about.length > 0 && !about.some((server) => servers.has(server)))) return false
      told.add(message)
      return true
    })
    for (const { message } of news) origin.log.warning(message)
    const more = news.length > MAX_RULES ? [`${news.length - MAX_RULES} more rules match no known tool.`] : []
    const shown = [...news.slice(0, MAX_RULES).map(({ message }) => message.slice(0, MAX_CHARS)), ...more]
    return shown.map((text) => `${text} Tell the user: \`sandbridge permissions\` lists such rules.`)
  }

  /** Once per session, until the record can be written again. */
  ofRecord({ told }: Session, failure: BridgeError | undefined): string[] {
    if (failure === undefined) told.delete('record')
    if (failure === undefined || told.has('record')) return []
    told.add('record')
    return [`${failure.message}. Tell the user: ${failure.hint}`]
  }
}

/** Says once that another version was installed in the place of the one that runs. */
export class PackageNews {
  readonly #script: string
  #seen = ''
  #isTold = false

  /** @param script what the client's entry starts */
  constructor(script = '') {
    this.#script = script
  }

  /** The notes for the next result. Does not wait for a thread, which would cost a cell more than all else here. */
  next(): string[] {
    const seen = look(this.#script)
    if (this.#isTold || seen === this.#seen) return []
    this.#seen = seen
    const version = this.#installed()
    if (version === undefined || version === VERSION) return []
    this.#isTold = true
    return [
      `Sandbridge ${version} has been installed, and this is still ${VERSION}. Tell the user: restart the client to use it.`,
    ]
  }

  #installed(): string | undefined {
    return orUndefined(() => {
      const folder = path.dirname(path.dirname(realpathSync(this.#script)))
      const { name, version } = fieldsOf(parseJson(readFileSync(path.join(folder, 'package.json'), 'utf8')))
      return name === 'sandbridge' ? String(version) : undefined
    })
  }
}

/** Says once which server files are unreadable, and which belong to other MCP clients. */
class FileNews {
  /** The clients that a bridge on this machine has told of: a new conversation is not told again. */
  readonly #clients: JsonDocument<string[]>
  #told = new Set<string>()
  #last: DiscoveredServers | undefined

  constructor(stateDir: string) {
    this.#clients = new JsonDocument({
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
