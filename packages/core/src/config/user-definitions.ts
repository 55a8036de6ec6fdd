// The servers of one user of a shared bridge: those of their own folder, and the shared ones whose names they have not
// taken. The operator of the bridge writes that folder: its commands run as the operator's system user.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { parse as parseEnv } from 'dotenv'
import { foldName } from '../util/text/python-name.ts'
import type { ClientContext } from './settings/client-context.ts'
import { nodeFileSystem, readFileOrLink } from './config-file.ts'
import { discoverServers } from './discover.ts'
import { PlacesSeen } from './places-seen.ts'
import type { DiscoveredServers } from './entries/server-definition.ts'
import type { Settings } from './settings/settings.ts'
import { tokensFile } from './settings/state-folder.ts'

/** Variables for placeholders such as `${env:GITHUB_TOKEN}`, instead of the bridge's variables. */
const ENV_FILE = '.env'

interface UserDefinitionsOptions {
  settings: Settings
  context: ClientContext
  folder: string
  shared: () => DiscoveredServers
  /** The port on which this bridge serves HTTP. */
  ownPort: number | undefined
}

export class UserDefinitions {
  /** The user's own variables, as last read. */
  env: Readonly<Record<string, string>> = {}
  /** Whether the user has servers, variables or sign-ins, and therefore cannot use the shared connections. */
  hasOwn = false
  readonly #options: UserDefinitionsOptions
  #seen: PlacesSeen | undefined
  #shared: DiscoveredServers | undefined
  #last: DiscoveredServers | undefined
  #isSignedIn = false

  constructor(options: UserDefinitionsOptions) {
    this.#options = options
  }

  async latest(): Promise<DiscoveredServers> {
    const read = await this.readAgain()
    return read ?? this.#last!
  }

  get places(): Record<string, string> {
    return this.#seen?.states() ?? {}
  }

  /** The servers that the user can reach; undefined when nothing has changed since the last read. */
  async readAgain(): Promise<DiscoveredServers | undefined> {
    const shared = this.#options.shared()
    const isSame =
      this.#shared === shared && this.#isSignedIn === this.#hasSignIns() && this.#seen?.hasChanged() === false
    return isSame ? undefined : this.#read(shared)
  }

  /** Checks only that the file exists: refreshed tokens change its content, and no definition. */
  #hasSignIns(): boolean {
    return existsSync(tokensFile(this.#options.folder))
  }

  async #read(shared: DiscoveredServers): Promise<DiscoveredServers> {
    const { settings, context, folder, ownPort } = this.#options
    const seen = new PlacesSeen()
    const fileSystem = seen.noting(nodeFileSystem)
    const own = await discoverServers({
      ...context,
      settings: { ...settings, stateDir: folder, sources: ['mcps'] },
      fileSystem,
      ...(ownPort !== undefined && { ownPort }),
    })
    const env = await readFileOrLink(fileSystem, path.join(folder, ENV_FILE))
    this.#isSignedIn = this.#hasSignIns()
    this.env = 'text' in env ? parseEnv(env.text) : {}
    this.hasOwn = own.files.length > 0 || own.skipped.length > 0 || !('absent' in env) || this.#isSignedIn
    this.#seen = seen
    this.#shared = shared
    // An invalid server still takes its name: the user's code was not written for the shared server of that name.
    const names = [...own.servers, ...own.skipped].flatMap(({ name }) => name ?? [])
    const taken = new Set(names.map(foldName))
    const isFree = ({ name }: { name: string }): boolean => !taken.has(foldName(name))
    this.#last = {
      servers: [...own.servers, ...shared.servers.filter(isFree)],
      untrusted: shared.untrusted.filter(isFree),
      found: [...own.found, ...shared.found.filter(isFree)],
      skipped: own.skipped,
      files: own.files,
    }
    return this.#last
  }
}
