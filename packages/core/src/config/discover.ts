// Finds every configured MCP server, in order of precedence, and starts nothing. An invalid file or entry is listed in
// `skipped`, with a reason that quotes no value, and affects no other.
import { parseDocument } from './formats/config-document.ts'
import type { ClientContext } from './settings/client-context.ts'
import type { ConfigFileSystem } from './config-file.ts'
import { listFiles, nodeFileSystem, readFileText } from './config-file.ts'
import { MAX_PROJECT_FILES, ProjectFiles } from './readers/project-files.ts'
import { placeDefinitions, trustRank, withoutDoubles } from './merge-definitions.ts'
import { chosenReaders } from './readers/index.ts'
import type { ConfigLocation, NamedEntry, HostPaths, Reader } from './readers/reader.ts'
import { ADDED_SERVERS_FILE, OWN_SOURCES } from './readers/own-places.ts'
import { join, TABLE_EXAMPLE, TableRefused } from './readers/reader.ts'
import { launchesBridge, reachesBridge } from './entries/self-server.ts'
import type {
  ConfigFileRead,
  CoveredFiles,
  DiscoveredServers,
  ServerDefinition,
  ServerSandbox,
  SkippedEntry,
} from './entries/server-definition.ts'
import { BAD_NAME, isServerName, shownName, toServerBody, whyUnrestricted } from './entries/server-entry.ts'
import type { Settings } from './settings/settings.ts'
import { textHash, trustedText } from './trust.ts'

export interface DiscoverOptions extends ClientContext {
  settings: Pick<Settings, 'stateDir' | 'serversConfig' | 'allowSelfServer' | 'sources'> &
    Partial<Pick<Settings, 'jail'>>
  platform?: NodeJS.Platform
  fileSystem?: ConfigFileSystem
  /** Whether the user trusts this text of a project's file. Without it, no project file is trusted. */
  isTrusted?: (file: string, text: string) => boolean | Promise<boolean>
  /** The port on which this bridge serves HTTP. */
  ownPort?: number
}

/** For servers jailed only because of MCP_BRIDGE_JAIL=all: no files, and internet access, which most need. */
const DEFAULT_SANDBOX: ServerSandbox = { network: { allowedDomains: ['*'] } }

/** The content of one file. Lowest `rank` first: the user's own files, those of trusted projects, the rest. */
interface FileServers {
  rank: 0 | 1 | 2
  read?: ConfigFileRead
  servers: ServerDefinition[]
  skipped: SkippedEntry[]
}

/** Where readers look for files. @param platform missing means this machine's */
export function hostPaths(
  { stateDir, serversConfig }: Pick<Settings, 'stateDir' | 'serversConfig'>,
  { platform = process.platform, ...place }: Pick<HostPaths, 'home' | 'cwd' | 'env'> & { platform?: NodeJS.Platform },
): HostPaths {
  const { home, cwd, env } = place
  return { platform, home, cwd, env, stateDir, serversConfig }
}

/** All configured servers under unique names, and what was skipped and why. Never rejects because of a file. */
export async function discoverServers(options: DiscoverOptions): Promise<DiscoveredServers> {
  const { settings, fileSystem = nodeFileSystem } = options
  const place = hostPaths(settings, options)
  const readers = await chosenReaders(settings.sources)
  const project = { ...options, fileSystem: new ProjectFiles(fileSystem) }
  const listed = await Promise.all(readers.map((reader) => filesOf(reader, place, fileSystem)))
  // Those of a project share their limits, and so are read in their order.
  let before: Promise<unknown> = Promise.resolve()
  const reading = readers.flatMap((reader, at) =>
    listed[at]!.map((location) => {
      if (location.scope !== 'project') return readOrSkip(reader, location, place, options)
      const read = before.then(() => readOrSkip(reader, location, place, project))
      before = read
      return read
    }),
  )
  const found = await Promise.all(reading)
  // The user's servers come first, so that a project cannot take a name away.
  const files = found.toSorted((a, b) => a.rank - b.rank)
  const placed = placeDefinitions(files.flatMap((file) => file.servers))
  const servers = withoutDoubles(placed)
  return {
    servers: servers.filter((one) => one.trusted !== false),
    untrusted: servers.filter((one) => one.trusted === false),
    found: placed,
    skipped: files.flatMap((file) => file.skipped),
    files: files.flatMap((file) => file.read ?? []),
  }
}

interface Location extends ConfigLocation {
  /** Why the folder cannot be listed. */
  reason?: string
  /** What a missing file means. */
  absent?: string
}

/** The files at a reader's locations. A folder gives its files, or the reason why it cannot be listed. */
async function filesOf(reader: Reader, place: HostPaths, fileSystem: ConfigFileSystem): Promise<Location[]> {
  const lists = reader.locations(place).map(async (location) => {
    if (location.kind !== 'folder') return [location]
    const listed = await listFiles(fileSystem, location.path, location.names)
    if ('absent' in listed) return []
    if ('reason' in listed) return [{ ...location, reason: listed.reason }]
    const names = listed.names.filter((name) => !location.except?.test(name))
    const most = location.scope === 'project' ? MAX_PROJECT_FILES : names.length
    const rest = { ...location, reason: `has ${names.length} files; the first ${most} are read` }
    return names
      .slice(0, most)
      .map((name): Location => ({
        path: join(place, location.path, name),
        scope: location.scope,
        ...(/\.json$/i.test(name) && { format: 'jsonc' as const }),
        absent: 'is a broken symbolic link',
      }))
      .concat(names.length > most ? rest : [])
  })
  const files = (await Promise.all(lists)).flat()
  // In the home folder, the user's file and the project's file are the same; it counts as the user's.
  return files.filter((file, index) => files.findIndex((other) => other.path === file.path) === index)
}

/** A file that crashes its parser or reader does not affect other files. */
async function readOrSkip(...args: Parameters<typeof readOne>): Promise<FileServers> {
  try {
    return await readOne(...args)
  } catch (error) {
    // The message may quote the file. A RangeError means a stack overflow: the values are nested too deeply.
    const name = error instanceof Error ? error.name : 'unknown error'
    const reason =
      error instanceof TableRefused
        ? error.message
        : error instanceof RangeError
          ? 'is nested too deeply'
          : `could not be parsed (${name})`
    return { rank: 2, servers: [], skipped: [{ file: args[1].path, reason, kind: 'unread' }] }
  }
}

async function readOne(
  reader: Reader,
  location: Location,
  place: HostPaths,
  options: DiscoverOptions,
): Promise<FileServers> {
  const file = location.path
  const nothing = (...skipped: SkippedEntry[]): FileServers => ({
    rank: location.scope === 'user' ? 0 : 2,
    servers: [],
    skipped,
  })
  const unread = (reason: string): FileServers => nothing({ file, reason, kind: 'unread' })
  if (location.reason !== undefined) return unread(location.reason)

  const read = await readFileText(options.fileSystem ?? nodeFileSystem, file)
  if ('absent' in read) {
    const reason = location.expected ? 'does not exist' : location.absent
    return reason === undefined ? nothing() : unread(reason)
  }
  // An empty folder in its place guards a file that a jailed server must not create (guarded-places.ts).
  if ('reason' in read && read.isFolder && location.scope === 'project') return nothing()
  if ('reason' in read) return unread(read.reason)
  const parsed = await parseDocument(read.text, location.format ?? reader.format)
  if ('reason' in parsed) return unread(parsed.reason)
  const entries = reader.entries(parsed.document, place, file)
  if (entries === undefined) {
    if (!reader.dedicated) return nothing()
    const reason = `has no "mcpServers"; expected {"mcpServers": ${TABLE_EXAMPLE}}`
    // A project may keep other JSON files in a folder of this name.
    return location.scope === 'user' ? unread(reason) : nothing({ file, reason })
  }

  const isOwn = OWN_SOURCES.has(reader.client)
  const files = options.fileSystem instanceof ProjectFiles ? options.fileSystem : undefined
  const tooMany = files?.refusesServers(entries.length)
  if (tooMany !== undefined) return unread(tooMany)
  const refused = files?.refused ?? 0
  const definitions = entries.map((entry) => toDefinition(entry, { client: reader.client, file }, isOwn, options))
  const covers =
    location.scope === 'user' ? [] : await Promise.all(definitions.map((one) => coveredOf(one, place, options)))
  // What it inserts could change after it was trusted.
  if (files && files.refused > refused) return unread('inserts files that are left out: they are too large')
  const text = trustedText(read.text, covers)
  const trusted = location.scope === 'user' || ((await options.isTrusted?.(file, text)) ?? false)
  const origin = {
    ...(location.scope === 'project' && { isProjects: true as const }),
    ...(file === join(place, place.stateDir, ADDED_SERVERS_FILE) && { isPublishers: true as const }),
    ...(!trusted && { trusted }),
  }
  const result: FileServers = { rank: trustRank(origin), servers: [], skipped: [] }
  for (const [index, { name }] of entries.entries()) {
    const definition = definitions[index]!
    if ('reason' in definition) {
      const { field, ...skipped } = definition
      const line = field === undefined ? '' : ` (line ${lineOf(read.text, name, field)})`
      result.skipped.push({ file, name: shownName(name), ...skipped, reason: `${skipped.reason}${line}` })
    } else {
      const own = Object.keys(covers[index] ?? {}).length > 0 ? { covers: covers[index]! } : {}
      // Only the user says whose text they trust.
      if (location.scope === 'project' || origin.isPublishers) delete definition.isOwnText
      result.servers.push(jailed({ ...definition, ...origin, ...own }, options.settings.jail))
    }
  }
  result.read = { client: reader.client, file, serverCount: result.servers.length, trusted, hash: textHash(text) }
  return result
}

async function coveredOf(
  definition: ServerDefinition | { reason: string },
  { env, home, cwd }: HostPaths,
  { fileSystem = nodeFileSystem }: DiscoverOptions,
): Promise<CoveredFiles> {
  if ('reason' in definition) return {}
  const { coveredFiles } = await import('./covered-files.ts')
  return coveredFiles(definition, { env, home, workspaceFolder: cwd }, fileSystem)
}

/** A project cannot exempt its own servers from a jail that the user requires for all. */
function jailed(definition: ServerDefinition, jail: Settings['jail'] | undefined): ServerDefinition {
  const { transport, unjailed, isProjects } = definition
  if (jail !== 'all' || transport.type !== 'stdio' || transport.sandbox || (unjailed && !isProjects)) return definition
  return { ...definition, transport: { ...transport, sandbox: DEFAULT_SANDBOX } }
}

/** The line of a field: the first one of that name behind the name of its server. */
function lineOf(text: string, server: string, field: string): number {
  const at = text.indexOf(field, Math.max(0, text.indexOf(server)))
  return text.slice(0, Math.max(0, at)).split('\n').length
}

function toDefinition(
  { name, entry }: NamedEntry,
  source: ServerDefinition['source'],
  isOwn: boolean,
  options: DiscoverOptions,
): ServerDefinition | (Pick<SkippedEntry, 'reason' | 'kind'> & { field?: string }) {
  if (!isServerName(name)) return { reason: BAD_NAME }
  if (entry === undefined) return { reason: 'is not an object' }
  const made = toServerBody(entry)
  if ('reason' in made) return made
  const unrestricted = whyUnrestricted(entry, isOwn)
  if (unrestricted !== undefined) return unrestricted
  if (!options.settings.allowSelfServer && launchesBridge(made.body.transport, options.ownPaths)) {
    return { reason: 'would start this bridge again; set MCP_BRIDGE_ALLOW_SELF_SERVER=1 to keep it', kind: 'self' }
  }
  if (!options.settings.allowSelfServer && reachesBridge(made.body.transport, options.ownPort)) {
    return { reason: 'is this bridge itself; set MCP_BRIDGE_ALLOW_SELF_SERVER=1 to keep it', kind: 'self' }
  }
  return { name, ...made.body, source }
}
