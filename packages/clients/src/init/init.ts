// `sandbridge init`: registers the bridge in the clients of this machine. Shows every change first, lists the tools of
// servers that were never listed, and says what to do next.
import type { OpenTenant } from '@sandbridge/core/bridge'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { applyInit } from './apply-init.ts'
import { askWhoseText } from './plan/ask-whose-text.ts'
import { type InitPlan, planInit } from './plan/plan-init.ts'
import { loadSettings, processContext } from '@sandbridge/core/config/settings'
import { clientFileText, discoverServers, hostPaths, otherClientFiles, otherClientsNote } from '@sandbridge/core/config'
import type { ClientFile } from '@sandbridge/core/config'
import { bridgeCommand } from './checks/bridge-command.ts'
import type { BridgeCommand } from './plan/targets.ts'
import type { DiscoveredServers, ServerDefinition } from '@sandbridge/core/config/entries'
import type { FlowPreset } from '@sandbridge/core/config/rules'
import { PACKAGE_ROOT } from '@sandbridge/core/util'
import { count, firstOf } from '@sandbridge/core/util/text'
import { print, printJson, printStyled, visibleInline } from '@sandbridge/core/serve/cli/terminal'
import { confirm } from '@sandbridge/shared/terminal/confirm.ts'
import { hasTerminal } from '@sandbridge/shared/terminal/ask-in-terminal.ts'
import { tellUnread, withBridge } from '@sandbridge/shared/open-bridge.ts'
import type { Style } from '@sandbridge/core/serve/cli/terminal'
import { indexNow } from './index-servers.ts'
import { addLoginItem, IDLE_MEGABYTES } from './login-item.ts'
import { printSkipped } from './print-skipped.ts'
import { isOfOneVersion } from './checks/stable-path.ts'

/** Clients that have a code mode of their own. */
const WITH_CODE = new Set(['claude-code', 'codex', 'opencode'])

/** Values of MCP_BRIDGE_TOOLS. */
const TOOL_MODES = ['code', 'search', 'direct']

interface InitOptions {
  yes?: boolean
  move?: boolean
  undo?: boolean
  client?: string[]
  dryRun?: boolean
  tools?: string
  login?: boolean
  json?: boolean
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID for options that do not go together */
export async function init(options: InitOptions): Promise<void> {
  if (options.undo && (options.client || options.move))
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', '--undo undoes all that init has done, for every client', {
      hint: 'Leave out --client and --move, or register the other clients again: sandbridge init --client NAME',
    })
  if (options.tools !== undefined && !TOOL_MODES.includes(options.tools))
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `--tools is one of ${TOOL_MODES.join(', ')}`)
  const settings = await loadSettings()
  const { stateDir } = settings
  if (options.undo) return (await import('./undo/undo.ts')).undo(options, hostPaths(settings, processContext()))
  const discovered = await discoverServers({ ...processContext(), settings })
  tellUnread(discovered)
  const command = bridgeCommand(PACKAGE_ROOT, process.execPath)
  const { tools } = options
  const sourcesOf = (leftOut: readonly string[]) =>
    leftOut.length > 0 ? sourcesWithout(leftOut, settings.sources) : undefined
  const planWithout = (leftOut: readonly string[]): Promise<InitPlan> =>
    planInit({
      place: hostPaths(settings, processContext()),
      command: { ...command, ...withEnv({ ...(tools && { MCP_BRIDGE_TOOLS: tools }), ...sourcesOf(leftOut) }) },
      root: PACKAGE_ROOT,
      keepOthers: options.yes ?? false,
      ownPaths: process.argv.slice(1, 2),
      nameOf: namesIn(discovered),
      move: options.move ?? false,
      leftOut,
      ...(options.client && { clients: options.client }),
    })
  let plan = await planWithout([])
  if (plan.skipped.some(({ kind }) => kind === 'unread')) process.exitCode = 1
  if (options.json) return printJson(await asJson(plan, { ...options, stateDir }))
  const mayAsk = hasTerminal() && !options.yes && !options.dryRun
  const leftOut =
    mayAsk && plan.changes.length > 0 ? await askWhichToLeaveOut(otherClientFiles(discovered.servers)) : []
  if (leftOut.length > 0) plan = await planWithout(leftOut)
  printSkipped(plan.skipped)
  const others = new Map(plan.replaced.map(({ client, start }) => [client, start.text]))
  for (const client of plan.registered)
    if (!others.has(client)) print(`${client}: registered already`)
    else print(visibleInline(`${client}: ${others.get(client)}. To change that, leave out --yes.`))
  for (const { client, start, change } of plan.replaced)
    if (change) print(visibleInline(`${client}: its entry ${start.text}`))
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
  if (skipped.length > 0) process.exitCode = 1
  if (written.length > 0) print('Undo with `sandbridge init --undo`.')
  const asksLogin = mayAsk && written.length > 0 && !options.login
  if (options.login || (asksLogin && (await confirm(LOGIN_QUESTION)))) await startAtLogin(command)
  // The answers also hold for what follows here.
  if (leftOut.length > 0) Object.assign(process.env, sourcesWithout(leftOut, settings.sources))
  await withBridge(async (bridge) => {
    await listNewServers(bridge, options.yes ?? false)
    if (mayAsk && settings.flow !== 'off') await askWhoseText(bridge)
  })
  if (!mayAsk) {
    // Servers may have moved.
    const now = written.length > 0 ? await discoverServers({ ...processContext(), settings }) : discovered
    for (const note of otherClientsNote(otherClientFiles(now.servers))) print(note)
  }
  const steps = nextSteps(plan, written, [command.command, ...command.args])
  if (steps.length > 0 && settings.packages.length === 0)
    steps.push('For work with data, give cells pandas and charts: sandbridge packages add pandas matplotlib')
  if (written.length > 0) steps.push(...flowStep(settings.flow))
  if (written.length > 0 && !options.login && !asksLogin) steps.push(LOGIN_STEP)
  const coding = plan.changes.flatMap(({ client, file }) =>
    written.includes(file) && WITH_CODE.has(client) && !tools ? client : [],
  )
  for (const client of coding)
    steps.push(
      `${client} can run code itself. To list tools to it directly: sandbridge init --client ${client} --tools direct`,
    )
  if (leftOut.length > 0)
    steps.push(`Set MCP_BRIDGE_SOURCES=${process.env['MCP_BRIDGE_SOURCES']} for commands in a terminal, too.`)
  if (steps.length > 0) print(`\nNext:\n${steps.map((step) => `- ${step}`).join('\n')}`)
}

const LOGIN_QUESTION = `Start it at login, so that no client waits? It takes about ${IDLE_MEGABYTES} MB. [y/N] `
const LOGIN_STEP = `To start Sandbridge at login, so that no client waits (about ${IDLE_MEGABYTES} MB): sandbridge init --login`

async function startAtLogin(command: BridgeCommand): Promise<void> {
  const { home, env } = processContext()
  const reason = await addLoginItem(command, { platform: process.platform, home, env })
  if (reason === undefined) return print('The resident bridge starts at login. `sandbridge init --undo` ends that.')
  process.exitCode = 1
  print(`The resident bridge cannot be started at login: ${reason}`)
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
async function listNewServers(bridge: OpenTenant, yes: boolean): Promise<void> {
  const isNew = ({ toolCount, problem }: { toolCount?: number; problem?: string }): boolean =>
    toolCount === undefined && problem === undefined
  const names = bridge.catalog.servers().flatMap((server) => (isNew(server) ? server.name : []))
  if (names.length === 0) return
  const why = yes
    ? 'The tools of these servers are listed now'
    : 'The tools of these servers are not listed yet, so no search finds them'
  print(`\n${why}: ${firstOf(names)}`)
  const agreed = yes || (hasTerminal() && (await confirm('Start these servers and list their tools now? [Y/n] ', true)))
  if (!agreed) return print('List them with `sandbridge index`.')
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
  const trust = 'add "trusted": true to the entries of servers that return only your own text'
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
  const made = yes && !dryRun ? await applyInit(changes, stateDir) : { written: [], skipped: [] }
  if (made.skipped.length > 0) process.exitCode = 1
  const all = { registered, absent, beside, skipped: [...skipped, ...made.skipped] }
  return { changes: planned, ...all, written: made.written }
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

function withEnv(env: Record<string, string>): Pick<BridgeCommand, 'env'> {
  return Object.keys(env).length > 0 ? { env } : {}
}
