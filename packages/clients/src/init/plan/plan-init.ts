// Plans what `sandbridge init` would change, and describes it without secrets. Writes nothing.
import { BridgeError } from '@sandbridge/core/errors.ts'
import { parseDocument } from '@sandbridge/core/config/formats'
import { editDocument } from '@sandbridge/shared/edits/edit-document.ts'
import type { ConfigFormat, ConfigObject } from '@sandbridge/core/config/formats'
import type { Edit } from '@sandbridge/shared/edits/edit-document.ts'
import { fieldsOf, isRecord, valueAt } from '@sandbridge/core/util/json/json.ts'
import { entriesOf, join, mcps, nodeFileSystem, readFileOrLink, readFileText } from '@sandbridge/core/config'
import { TableRefused } from '@sandbridge/core/config'
import type { ConfigFileSystem, FileText, HostPaths, Reader } from '@sandbridge/core/config'
import { BAD_NAME, isServerName, launchesBridge, shownName, toServerBody } from '@sandbridge/core/config/entries'
import type { RemoteServer, ServerBody, SkippedEntry } from '@sandbridge/core/config/entries'
import { createRedactor } from '@sandbridge/core/config/secrets'
import { firstOf } from '@sandbridge/core/util/text'
import { allowingEdit, isExcluded, withValue } from './client-lists.ts'
import { entryByHand } from './entry-by-hand.ts'
import { type OtherStart, otherStart } from './entry-state.ts'
import { lineDiff } from './line-diff.ts'
import type { BridgeCommand, Target } from './targets.ts'
import { BRIDGE_NAME, movedServersFile, targetsOf } from './targets.ts'

/**
 * One file before and after. `before` is undefined when the file does not exist. Both texts may hold secrets: show
 * `diff`.
 */
export interface PlannedChange {
  client: string
  file: string
  format: ConfigFormat
  before: string | undefined
  after: string
  edits: Edit[]
  /** The removed (`-`) and added (`+`) lines, byte for byte except secrets. */
  diff: string[]
}

export interface ReplacedEntry {
  client: string
  file: string
  start: OtherStart
  /** What to write by hand. */
  byHand: string
  /** Missing where the file cannot be edited. */
  change?: PlannedChange
}

export interface InitPlan {
  /** In write order: a moved server is in its new place before it is removed from the old one. */
  changes: PlannedChange[]
  skipped: SkippedEntry[]
  /** Clients in which the bridge is already registered. */
  registered: string[]
  /** Entries of the bridge that start something else than this installation. */
  replaced: ReplacedEntry[]
  /** Clients that are not on this machine, and the file they would have. */
  absent: { client: string; file: string }[]
  /** Servers that stay in a client beside the bridge, which could be moved. */
  beside: { client: string; names: string[] }[]
}

export interface PlanInitOptions {
  place: HostPaths
  command: BridgeCommand
  /** Move the clients' servers into the state folder, so that they no longer use context in those clients. */
  move: boolean
  /** Clients whose servers the bridge will not read: they are not moved. */
  leftOut?: readonly string[]
  /**
   * The bridge's name for a server, which may differ from that in the client's file. A moved server keeps the
   * bridge's name.
   */
  nameOf?: (client: string, file: string, name: string) => string
  /** The folder of this package: entries that start another one are changed. */
  root?: string
  /** Leave an entry that starts another installation which works. */
  keepOthers?: boolean
  /** Paths that start this bridge; the running script's by default. */
  ownPaths?: readonly string[]
  /** Only these clients; by default all that are found. */
  clients?: readonly string[]
  fileSystem?: ConfigFileSystem
}

/**
 * Plans the changes that register the bridge in the clients on this machine. A client counts as present when its file,
 * or the folder of its file, exists.
 * @throws BridgeError TOOL_ARGUMENTS_INVALID for an unknown client
 */
export async function planInit(options: PlanInitOptions): Promise<InitPlan> {
  const plan: InitPlan = { changes: [], skipped: [], registered: [], replaced: [], absent: [], beside: [] }
  const targets = targetsOf(options.place)
  const known = targets.map(({ client }) => client)
  const unknown = options.clients?.filter((client) => !known.includes(client)) ?? []
  if (unknown.length > 0) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `Unknown client ${unknown.map((one) => `'${one}'`).join(', ')}`, {
      hint: `Known clients are ${known.join(', ')}.`,
    })
  }
  for (const target of targets) {
    if (options.clients !== undefined && !options.clients.includes(target.client)) continue
    await planOne(target, options, plan)
  }
  return plan
}

async function planOne(target: Target, options: PlanInitOptions, plan: InitPlan): Promise<void> {
  const { fileSystem = nodeFileSystem, place, command } = options
  const { client, format } = target
  const { file, folder, read } = await fileOf(target, place, fileSystem)
  const skip = (reason: string, more: Pick<SkippedEntry, 'name' | 'kind'> = {}): void => {
    plan.skipped.push({ file, reason, ...more })
  }

  if ('reason' in read) return skip(read.reason, { kind: 'unread' })
  if ('absent' in read && !(await isFolder(fileSystem, folder))) return void plan.absent.push({ client, file })
  const before = 'text' in read ? read.text : undefined
  const parsed = await parseDocument(before ?? '', format)
  if ('reason' in parsed) return skip(parsed.reason, { kind: 'unread' })

  const table = target.table(parsed.document)
  const allowing = allowingEdit(target, parsed.document)
  let servers: Map<string, ServerBody>
  let switchedOff: Map<string, ServerBody>
  try {
    // With the bridge in the list of allowed servers: a missing name does not mean that the user switched it off.
    const document = allowing === undefined ? parsed.document : withValue(parsed.document, allowing)
    ;({ servers, switchedOff } = serversOf(target, document, place, file))
  } catch (error) {
    if (error instanceof TableRefused) return skip(error.message, { kind: 'unread' })
    throw error
  }
  const edits: Edit[] = []
  const ownPaths = [...(options.ownPaths ?? []), ...command.args]
  const isOwn = ([, body]: [string, ServerBody]): boolean => launchesBridge(body.transport, ownPaths)
  const own = [...servers].filter(isOwn)
  const [off] = [...switchedOff].filter(isOwn)
  const mine = own.find(([name]) => name === BRIDGE_NAME)?.[1]
  const start = mine && (await otherStart(mine, options.root, fileSystem))
  const isToChange =
    mine && (saysOther(mine, command) || (start && !(options.keepOthers && start.version !== undefined)))
  const byHand = (): string => entryByHand(table, target.entry(command, table), format)
  const replaced: ReplacedEntry | undefined = start && { client, file, start, byHand: byHand() }
  if (replaced) plan.replaced.push(replaced)
  if (own.length > 0 && !isToChange) {
    if (mine && allowing) edits.push(allowing)
    else plan.registered.push(client)
  } else if (own.length === 0 && off !== undefined) {
    return skip('is Sandbridge, switched off in this file; switch it on there first', { name: shownName(off[0]) })
  } else if (isExcluded(target, parsed.document)) {
    return skip(`is in the list ${target.lists?.excluded.join('.')}; take it out first`, { name: BRIDGE_NAME })
  } else if (own.length === 0 && valueAt(parsed.document, ...table, BRIDGE_NAME) !== undefined) {
    return skip('is the name of another server; rename that one first', { name: BRIDGE_NAME })
  } else {
    // The user may have added fields to an entry that is repaired, and variables.
    const earlier = fieldsOf(valueAt(parsed.document, ...table, BRIDGE_NAME))
    const wanted = Object.entries(target.entry(command, table)).map(([key, value]) => [
      key,
      isRecord(value) && isRecord(earlier[key]) ? { ...earlier[key], ...value } : value,
    ])
    const entry = { ...earlier, ...Object.fromEntries(wanted) } as ConfigObject
    edits.push({ path: [...table, BRIDGE_NAME], value: entry }, ...(allowing ? [allowing] : []))
  }

  // Servers of clients without a reader are not moved.
  const isMovable = target.reader !== undefined && !options.leftOut?.includes(client)
  const beside = [...servers.keys()].filter((name) => !own.some(([ownName]) => ownName === name))
  if (isMovable && !options.move && beside.length > 0) plan.beside.push({ client, names: beside })
  if (isMovable && options.move) {
    await tellUnmoved({ target, file, ownPaths }, options, plan)
    const moved = new Map(beside.map((name) => [name, servers.get(name)!]))
    const destination = await planDestination({ client, file, servers: moved }, options, plan)
    for (const name of destination?.names ?? []) {
      edits.push({ path: [...table, name] })
    }
    if (destination !== undefined && destination.names.length > 0) plan.changes.push(destination.change)
  }
  if (edits.length === 0) return
  const edited = await editDocument(before ?? '', format, edits)
  if ('reason' in edited) {
    // A move is atomic: if the server cannot be removed here, it is not added there.
    plan.changes = plan.changes.filter((change) => change.client !== destinationClient(client))
    const isMissing = edits.some(({ path: keys }) => keys.at(-1) === BRIDGE_NAME)
    const wanted = isMissing ? `: ${byHand()}` : ''
    return skip(`${edited.reason}${wanted}`)
  }
  const after = before === undefined && !edited.text.endsWith('\n') ? `${edited.text}\n` : edited.text
  const diff = shownDiff(before, after, servers.values())
  const change = { client, file, format, before, after, edits, diff }
  plan.changes.push(change)
  if (replaced) replaced.change = change
}

/** Whether the user now wants other tools to be listed than the entry says. */
function saysOther({ transport }: ServerBody, { env }: BridgeCommand): boolean {
  const wanted = env?.['MCP_BRIDGE_TOOLS']
  return wanted !== undefined && transport.type === 'stdio' && transport.env['MCP_BRIDGE_TOOLS'] !== wanted
}

/** The file that the client reads, and the folder that shows that the client is there. */
async function fileOf(
  { files, folder }: Target,
  place: HostPaths,
  fileSystem: ConfigFileSystem,
): Promise<{ file: string; folder: string | undefined; read: FileText }> {
  for (const file of files) {
    // Writing a file in place of a broken link would lose the link.
    const read = await readFileOrLink(fileSystem, file)
    if (!('absent' in read)) return { file, folder, read }
  }
  const [file, other = file] = files
  const [own, others] = [file, other].map((one) => join(place, one, '..'))
  const isOther = own !== others && !(await isFolder(fileSystem, folder))
  return isOther ? { file: other, folder: others, read: { absent: true } } : { file, folder, read: { absent: true } }
}

/** Names the servers in other files of a client, such as that of its early versions: they stay there. */
async function tellUnmoved(
  { target: { reader, files }, file: changed, ownPaths }: { target: Target; file: string; ownPaths: readonly string[] },
  { place, fileSystem = nodeFileSystem }: PlanInitOptions,
  plan: InitPlan,
): Promise<void> {
  for (const { path: file, scope, kind, format } of reader?.locations(place) ?? []) {
    if (scope !== 'user' || kind === 'folder' || files.includes(file)) continue
    const read = await readFileText(fileSystem, file)
    const parsed = 'text' in read ? await parseDocument(read.text, format ?? reader!.format) : undefined
    // A file that cannot be read is reported where servers are read.
    if (parsed === undefined || 'reason' in parsed) continue
    const names = entriesIn(reader!, parsed.document, { ...place, cwd: '' }).flatMap(({ name, entry }) => {
      const made = entry && toServerBody(entry)
      return made && 'body' in made && !launchesBridge(made.body.transport, ownPaths) ? shownName(name) : []
    })
    if (names.length === 0) continue
    plan.skipped.push({ file, reason: `keeps its servers, because --move changes only ${changed}: ${firstOf(names)}` })
  }
}

/** None of a table that is refused, which is reported where servers are read. */
export function entriesIn(reader: Reader, ...from: Parameters<Reader['entries']>): FoundEntry[] {
  try {
    return reader.entries(...from) ?? []
  } catch (error) {
    if (error instanceof TableRefused) return []
    throw error
  }
}
type FoundEntry = NonNullable<ReturnType<Reader['entries']>>[number]

/** The user's servers in a client's file, on and switched off, without those of single projects. */
function serversOf(
  target: Target,
  document: ConfigObject,
  place: HostPaths,
  file: string,
): { servers: Map<string, ServerBody>; switchedOff: Map<string, ServerBody> } {
  const table = valueAt(document, ...target.table(document))
  const [servers, switchedOff] = [new Map<string, ServerBody>(), new Map<string, ServerBody>()]
  const entries = target.reader?.entries(document, { ...place, cwd: '' }, file) ?? entriesOf(table, {})
  for (const { name, entry } of entries ?? []) {
    if (entry === undefined || !isRecord(table) || !Object.hasOwn(table, name)) continue
    const isOff = entry.disabled === true || entry.enabled === false
    const made = toServerBody(isOff ? { ...entry, disabled: undefined, enabled: undefined } : entry)
    if ('body' in made) (isOff ? switchedOff : servers).set(name, made.body)
  }
  return { servers, switchedOff }
}

const destinationClient = (client: string): string => `mcps:${client}`

/** Plans the file in the state folder that takes over a client's servers, and the names of the servers it accepts. */
async function planDestination(
  { client, file: source, servers }: { client: string; file: string; servers: ReadonlyMap<string, ServerBody> },
  { place, fileSystem = nodeFileSystem, nameOf = (_client, _file, name) => name }: PlanInitOptions,
  plan: InitPlan,
): Promise<{ change: PlannedChange; names: string[] } | undefined> {
  if (servers.size === 0) return undefined
  const file = join(place, place.stateDir, movedServersFile(client))
  const read = await readFileOrLink(fileSystem, file)
  const before = 'text' in read ? read.text : undefined
  const parsed = 'reason' in read ? read : await parseDocument(before ?? '', 'jsonc')
  if ('reason' in parsed) {
    plan.skipped.push({ file, reason: parsed.reason })
    return undefined
  }
  const names: string[] = []
  const edits: Edit[] = []
  for (const [name, body] of servers) {
    const entry = toOwnEntry(body)
    const newName = nameOf(client, source, name)
    const isThere = valueAt(parsed.document, 'mcpServers', newName) !== undefined
    const reason = isThere ? 'is there already' : whyRefused(newName, entry, place)
    if (reason === undefined) {
      names.push(name)
      edits.push({ path: ['mcpServers', newName], value: entry })
    } else {
      plan.skipped.push({ file, name: shownName(name), reason: `${reason}, so the server stays in its client` })
    }
  }
  const edited = await editDocument(before ?? '', 'jsonc', edits)
  if ('reason' in edited) {
    plan.skipped.push({ file, reason: edited.reason })
    return undefined
  }
  const after = edited.text.endsWith('\n') ? edited.text : `${edited.text}\n`
  const diff = shownDiff(before, after, servers.values())
  const change = { client: destinationClient(client), file, format: 'jsonc' as const, before, after, edits, diff }
  return { change, names }
}

/** Why the state folder's files cannot hold a server: a moved server must be readable there. */
function whyRefused(name: string, entry: ConfigObject, place: HostPaths): string | undefined {
  if (!isServerName(name)) return BAD_NAME
  const [read] = mcps.entries({ mcpServers: { [name]: entry } }, place) ?? []
  const made = read?.entry ? toServerBody(read.entry) : { reason: 'cannot be read there' }
  return 'reason' in made ? made.reason : undefined
}

/** A definition in the format of the state folder's files. Its placeholders are already in the bridge's syntax. */
function toOwnEntry(body: ServerBody): ConfigObject {
  const { transport, tools, description, inputs, startTimeoutMs, callTimeoutMs } = body
  const { type, ...fields } = transport.type === 'stdio' ? transport : withOauth(transport)
  const lists = { description, includeTools: tools?.include, excludeTools: tools?.exclude }
  const entry = { ...(type !== 'stdio' && { type }), ...fields, ...lists, inputs, startTimeoutMs, callTimeoutMs }
  return JSON.parse(JSON.stringify(entry)) as ConfigObject
}

function withOauth({ oauth, signIn, ...fields }: RemoteServer): ConfigObject & { type: string } {
  return { ...fields, oauth: oauth ? { grant: 'client_credentials', ...oauth } : signIn }
}

/** Leaves out values of variables and headers and anything that looks like a secret: they do not change. */
function shownDiff(before: string | undefined, after: string, servers: Iterable<ServerBody>): string[] {
  const redactors = Array.from(servers, ({ transport }) => createRedactor(transport))
  const redact = (line: string): string => redactors.reduce((text, hide) => hide(text), line)
  return lineDiff(before ?? '', after).map(redact)
}

async function isFolder(fileSystem: ConfigFileSystem, folder: string | undefined): Promise<boolean> {
  if (folder === undefined) return false
  return fileSystem.readdir(folder).then(
    () => true,
    () => false,
  )
}
