// `sandbridge init`: registers the bridge in the clients of this machine. Shows every change first, lists the tools of
// servers that were never listed, and says what to do next.
import type { Bridge } from '../../bridge/bridge.ts'
import { askWhoseText } from './ask-whose-text.ts'
import { type InitPlan, planInit, type PlannedChange } from './plan-init.ts'
import { processContext } from '../../config/settings/client-context.ts'
import { discoverServers, hostPaths } from '../../config/discover.ts'
import { bridgeCommand } from './targets.ts'
import {
  type ClientFile,
  clientFileText,
  otherClientFiles,
  otherClientsNote,
} from '../../config/notes/other-clients.ts'
import type { DiscoveredServers, ServerDefinition, SkippedEntry } from '../../config/entries/server-definition.ts'
import type { FlowPreset } from '../../config/rules/flow.ts'
import { findPrograms } from '../../util/process/find-program.ts'
import { PACKAGE_ROOT } from '../../util/package-root.ts'
import { loadSettings } from '../../config/settings/file/load-settings.ts'
import { count } from '../../util/text/count.ts'
import { firstOf } from '../../util/text/first-of.ts'
import { hasTerminal } from '../terminal/ask-in-terminal.ts'
import { confirm } from '../terminal/confirm.ts'
import { indexNow } from '../servers/index-servers.ts'
import { tellUnread, withBridge } from '../terminal/open-bridge.ts'
import { print, printJson, printStyled, visibleInline, type Style } from '../terminal/print.ts'
import { printSkipped } from './print-skipped.ts'
import { realpath, readFile, writeFile } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { BridgeError } from '../../errors.ts'
import { parseDocument, valueAt } from '../../config/formats/config-document.ts'
import { folderOf, hashOf, HINT, putFile, recordOf, textOf, type UndoEdit } from './init-record.ts'

/** A folder of one version: of nvm, fnm, asdf, mise, nodenv, Volta, Homebrew's Cellar, Nix, or an unpacked archive. */
const VERSION_FOLDER = /[/\\][^/\\]*\d+\.\d+\.\d+[^/\\]*[/\\]/

/** Programs that start the version that their manager has chosen: those of asdf, mise and nodenv, and of Volta. */
const SHIM = /[/\\](shims|\.volta[/\\]bin)[/\\]/

/** A link of fnm that exists only as long as a shell. */
const ONE_SHELL = /fnm_multishells/

interface InitOptions {
  yes?: boolean
  move?: boolean
  undo?: boolean
  client?: string[]
  dryRun?: boolean
  json?: boolean
}

export async function init(options: InitOptions): Promise<void> {
  const settings = await loadSettings()
  const { stateDir } = settings
  if (options.undo) return (await import('./undo.ts')).undo(options, hostPaths(settings, processContext()))
  const discovered = await discoverServers({ ...processContext(), settings })
  tellUnread(discovered)
  const command = bridgeCommand(PACKAGE_ROOT, await stableNode(process.execPath, findPrograms('node')))
  const planWithout = (leftOut: readonly string[]): Promise<InitPlan> =>
    planInit({
      place: hostPaths(settings, processContext()),
      command: { ...command, ...(leftOut.length > 0 && { env: sourcesWithout(leftOut, settings.sources) }) },
      ownPaths: process.argv.slice(1, 2),
      nameOf: namesIn(discovered),
      move: options.move ?? false,
      leftOut,
      ...(options.client && { clients: options.client }),
    })
  let plan = await planWithout([])
  if (plan.skipped.some(({ kind }) => kind === 'unread')) process.exitCode = 1
  if (options.json) return printJson(await asJson(plan, { ...options, stateDir }))
  const others = otherClientFiles(discovered.servers)
  const mayAsk = hasTerminal() && !options.yes && !options.dryRun
  const leftOut = mayAsk && plan.changes.length > 0 ? await askWhichToLeaveOut(others) : []
  if (leftOut.length > 0) plan = await planWithout(leftOut)
  printSkipped(plan.skipped)
  for (const client of plan.registered) print(`${client}: registered already`)
  for (const { client, file } of options.client ? plan.absent : [])
    print(visibleInline(`${client}: not found on this machine (no ${file})`))
  for (const { client, file, diff } of plan.changes) {
    print(`\n${client}: ${visibleInline(file)}`)
    for (const line of diff) printStyled(styleOf(line), line.replace(/\r$/, ''))
  }
  if (plan.changes.length === 0) print(nothingToDo(plan, options))
  else if (options.dryRun) return print('\nNothing was changed: this was a dry run.')
  else if (!options.yes && !(await confirm('\nMake these changes? [y/N] '))) return print('Nothing was changed.')
  if (options.dryRun) return
  const { written, skipped } = await applyInit(plan.changes, stateDir)
  for (const file of written) print(`wrote ${visibleInline(file)}`)
  printSkipped(skipped)
  if (written.length > 0) print('Undo with `sandbridge init --undo`.')
  // The answers also hold for what follows here.
  if (leftOut.length > 0) Object.assign(process.env, sourcesWithout(leftOut, settings.sources))
  await withBridge(async (bridge) => {
    await listNewServers(bridge, options.yes ?? false)
    if (mayAsk && settings.flow !== 'off') await askWhoseText(bridge)
  })
  if (!mayAsk) for (const note of otherClientsNote(others)) print(note)
  const steps = nextSteps(plan, written, [command.command, ...command.args])
  if (steps.length > 0 && settings.packages.length === 0)
    steps.push('For work with data, give cells pandas and charts: sandbridge packages add pandas matplotlib')
  if (written.length > 0) steps.push(...flowStep(settings.flow))
  if (leftOut.length > 0)
    steps.push(`Set MCP_BRIDGE_SOURCES=${process.env['MCP_BRIDGE_SOURCES']} for commands in a terminal, too.`)
  if (steps.length > 0) print(`\nNext:\n${steps.map((step) => `- ${step}`).join('\n')}`)
}

/** Asks for each client's file whether cells may call its servers. @returns the clients for which the answer is no */
async function askWhichToLeaveOut(files: readonly ClientFile[]): Promise<string[]> {
  const leftOut: string[] = []
  for (const file of files) {
    print(`Sandbridge found servers in the file of ${clientFileText(file)}`)
    if (!(await confirm('Let cells call them, too? [Y/n] ', true))) leftOut.push(file.client)
  }
  return [...new Set(leftOut)]
}

/** The setting that leaves clients out, for the entries that are written. */
function sourcesWithout(clients: readonly string[], sources: readonly string[]): Record<string, string> {
  return { MCP_BRIDGE_SOURCES: [...sources, ...clients.map((client) => `-${client}`)].join(',') }
}

/** Until a server was asked once, no search finds its tools. */
async function listNewServers(bridge: Bridge, yes: boolean): Promise<void> {
  const isNew = ({ toolCount, problem }: { toolCount?: number; problem?: string }): boolean =>
    toolCount === undefined && problem === undefined
  const names = bridge.catalog.servers().flatMap((server) => (isNew(server) ? server.name : []))
  if (names.length === 0) return
  print(`\nNot asked for their tools yet, so that a search does not find these: ${firstOf(names)}`)
  const agreed = yes || (hasTerminal() && (await confirm('Start and ask them now? [Y/n] ', true)))
  if (!agreed) return print('Ask them with `sandbridge index`.')
  await indexNow(bridge, names)
}

function nextSteps({ changes, beside }: InitPlan, written: readonly string[], command: readonly string[]): string[] {
  const clients = changes.flatMap(({ client, file }) =>
    written.includes(file) && !client.startsWith('mcps:') ? client : [],
  )
  const steps =
    clients.length === 0 ? [] : [`Restart these clients, which then start Sandbridge: ${clients.join(', ')}.`]
  for (const { client, names } of beside) {
    const own = `${client} also lists ${count(names.length, 'server')} itself: ${firstOf(names)}.`
    steps.push(
      `${own} Move them behind Sandbridge, so that they use no context: sandbridge init --move --client ${client}`,
    )
  }
  if (written.length > 0 && command.some(isOfOneVersion))
    steps.push(
      'The entry names files of this version of Node. After you remove that version, run `sandbridge init` again.',
    )
  return steps
}

/** Trust in the text of a server is never assumed. */
function flowStep(flow: FlowPreset): string[] {
  const trust = 'add "trusted": true to the entries of servers that return only text of your own'
  if (flow === 'off')
    return [
      `To be asked before what one server said reaches another: sandbridge config permissions.flow ask. For fewer questions, run sandbridge init after that, or ${trust}.`,
    ]
  return [`For fewer questions about flows, ${trust}.`]
}

function nothingToDo({ registered, skipped, absent }: InitPlan, options: InitOptions): string {
  if (options.client !== undefined || registered.length > 0 || skipped.length > 0) return 'Nothing to change.'
  return `No MCP client to register in was found. Looked for: ${absent.map(({ client }) => client).join(', ')}.`
}

/** For a program: the planned changes, and those made, which are none without `--yes`. */
async function asJson(
  { changes, registered, absent, beside, skipped }: InitPlan,
  { yes = false, dryRun = false, stateDir }: InitOptions & { stateDir: string },
): Promise<object> {
  const planned = changes.map(({ client, file, diff }) => ({ client, file, diff }))
  const applied = yes && !dryRun ? await applyInit(changes, stateDir) : { written: [], skipped: [] }
  return {
    changes: planned,
    registered,
    absent,
    beside,
    skipped: [...skipped, ...applied.skipped],
    written: applied.written,
  }
}

/** The current names of servers: a moved server keeps the name that the user knows. */
function namesIn({ found }: DiscoveredServers): (client: string, file: string, name: string) => string {
  return (client, file, name) => {
    const isIt = ({ source, name: own }: ServerDefinition): boolean =>
      own === name && source.client === client && source.file === file
    return found.find(({ definition }) => isIt(definition))?.name ?? name
  }
}

function styleOf(line: string): Style {
  if (line.startsWith('+')) return 'green'
  return line.startsWith('-') ? 'red' : 'dim'
}

// Chooses the path of Node that `sandbridge init` writes into clients' files: one that still works when the user
// installs another Node.

/** Whether a path is gone once its version of Node is removed. */
function isOfOneVersion(file: string): boolean {
  return VERSION_FOLDER.test(file)
}

/**
 * The first path on the PATH that starts this Node, or lets its version manager choose one, and that does not name a
 * version. Without one, `node` itself: a plain `node` would not start in a client that the desktop has started, whose
 * PATH lacks version managers.
 *
 * @param node the path of the running Node
 * @param onPath the paths of all Nodes on the PATH, in its order
 */
export async function stableNode(node: string, onPath: readonly string[]): Promise<string> {
  if (!isOfOneVersion(node)) return node
  for (const candidate of onPath) {
    if (isOfOneVersion(candidate) || ONE_SHELL.test(candidate)) continue
    if (SHIM.test(candidate) || (await realpath(candidate).catch(() => undefined)) === node) return candidate
  }
  return node
}

// Writes the changes of plan-init.ts, with a backup of every file. Each write renames over the old file, so a crash
// loses nothing.

/**
 * Writes planned changes. A file that has changed since planning is skipped.
 * @returns the files that were written and those that were skipped
 * @throws BridgeError CONFIG_INVALID when a backup or the record cannot be written; its file is then unchanged
 */
export async function applyInit(
  changes: readonly PlannedChange[],
  stateDir: string,
): Promise<{ written: string[]; skipped: SkippedEntry[] }> {
  const written: string[] = []
  const skipped: SkippedEntry[] = []
  const record = recordOf(stateDir)
  await record.read()
  for (const change of changes) {
    const file = await realpath(change.file).catch(() => change.file)
    const now = await textOf(file)
    if (now !== change.before) {
      skipped.push({ file: change.file, reason: 'changed while this command ran; run it again' })
      continue
    }
    const backup = path.join(folderOf(stateDir), `${Date.now()}-${randomUUID().slice(0, 8)}-${path.basename(file)}`)
    const undo = await inverseOf(change)
    await record.update(async (all) => {
      if (now !== undefined) await writeFile(backup, await readFile(file), { mode: 0o600 })
      // Recorded before the write: undoing a write that did not happen does no harm.
      all.push({
        file,
        format: change.format,
        hash: hashOf(change.after),
        undo,
        ...(now === undefined ? {} : { backup }),
      })
    })
    await putFile(file, change.after).catch((error: NodeJS.ErrnoException) => {
      throw new BridgeError('CONFIG_INVALID', `${file} cannot be written (${error.code}).`, { hint: HINT })
    })
    written.push(change.file)
  }
  return { written, skipped }
}

async function inverseOf({ before, format, edits }: PlannedChange): Promise<UndoEdit[]> {
  const parsed = await parseDocument(before ?? '', format)
  const document = 'document' in parsed ? parsed.document : {}
  return edits.toReversed().map(({ path: keys, value: wrote }) => {
    const value = valueAt(document, ...keys)
    return value === undefined ? { path: keys, wrote } : { path: keys, value }
  })
}
