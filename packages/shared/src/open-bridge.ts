// Opens the bridge for a command: its settings, a log if one was asked for, the bridge.
import { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import type { AskInput, DiscoveredServers } from '@sandbridge/core/config/entries'
import { loadSettings, type Settings } from '@sandbridge/core/config/settings'
import { unreadFiles } from '@sandbridge/core/config'
import { createLog, SILENT } from '@sandbridge/core/util'
import { onShutdown } from '@sandbridge/core/util/process'
import { chooseProvider } from '@sandbridge/core/isolation/detect'
import { features } from '@sandbridge/core/serve/cli/package.ts'
import { askInTerminal } from './terminal/ask-in-terminal.ts'
import { type OpenTenant, openTenant } from '@sandbridge/core/bridge'
import { OWN_TERMINAL, reportFailure, type Terminal, visible } from '@sandbridge/core/serve/cli/terminal'

/** The exit code of a command that did its work without the servers of an invalid file. */
const UNREAD = 1

/**
 * Tells of config files that cannot be read or parsed, and sets the exit code for them.
 *
 * @param changed what the command decides, whatever the settings say
 * @param remembersEngine whether `auto` may take what it took last time, and check that meanwhile
 * @throws BridgeError CONFIG_INVALID naming every invalid setting
 */
export async function openBridge(
  changed: Partial<Settings>,
  ask?: AskInput,
  remembersEngine = false,
): Promise<OpenTenant> {
  const settings = { ...(await loadSettings()), ...changed }
  // The command itself tells a person what matters.
  const { context, stderr } = OWN_TERMINAL
  const log = context.env['MCP_BRIDGE_LOG_LEVEL'] ? createLog(settings.logLevel) : SILENT
  if (log === SILENT) for (const warning of settings.warnings) stderr.write(visible(`sandbridge: ${warning}\n`))
  const bridge = await Bridge.open(settings, log, {
    methods: features.methods,
    ...(ask && { ask }),
    ...(remembersEngine && { findProvider: chooseProvider(settings, log, true) }),
  })
  const opened = await openTenant(bridge, bridge.tenants.of(), () => bridge.close())
  tellUnread(opened.discovered)
  return opened
}

/**
 * Runs a command with a bridge that starts no sandbox in advance and may ask in the terminal, and closes the bridge
 * afterwards.
 */
export async function withBridge<T>(
  command: (bridge: OpenTenant) => Promise<T>,
  ask: AskInput | undefined = askInTerminal(),
  remembersEngine = false,
): Promise<T> {
  const bridge = await openBridge({ poolCount: 0 }, ask, remembersEngine)
  onShutdown(() => closeBridge(bridge))
  try {
    return await command(bridge)
  } finally {
    keepUnread(OWN_TERMINAL)
    await closeBridge(bridge)
  }
}

/** Like `withBridge`, with the resident's bridge where one runs the command. */
export async function withServers<T>(
  terminal: Terminal,
  command: (bridge: OpenTenant) => Promise<T>,
  ask: AskInput | undefined = askInTerminal(terminal),
  remembersEngine = false,
): Promise<T> {
  if (!terminal.resident) return withBridge(command, ask, remembersEngine)
  const bridge = await openServers(terminal, ask)
  // At its end, and then no user waits for a sandbox to end.
  terminal.onEnd(() => bridge.close())
  try {
    return await command(bridge)
  } finally {
    keepUnread(terminal)
    tellUnrecorded(bridge, terminal)
  }
}

/** The resident's bridge where one runs the command, else one that starts no sandbox in advance. */
export async function openServers(terminal: Terminal, ask: AskInput | undefined): Promise<OpenTenant> {
  const bridge = await terminal.resident?.open(ask)
  if (!bridge) return openBridge({ poolCount: 0 }, ask)
  tellUnread(bridge.discovered, terminal)
  return bridge
}

/** Closes the bridge. Tells a person when runs and calls of the command are not in the record. */
export async function closeBridge(bridge: OpenTenant, terminal = OWN_TERMINAL): Promise<void> {
  await bridge.close()
  tellUnrecorded(bridge, terminal)
}

function tellUnrecorded({ recordFailure, log }: OpenTenant, terminal: Terminal): void {
  if (recordFailure && log === SILENT) reportFailure(recordFailure, terminal)
}

/** The command may have set 0. */
function keepUnread(terminal: Terminal): void {
  if ((toldIn.get(terminal)?.size ?? 0) > 0) terminal.exitCode ||= UNREAD
}

const toldIn = new WeakMap<Terminal, Set<string>>()

/** Tells of config files that cannot be read or parsed, each once, and sets the exit code for them. */
export function tellUnread({ skipped }: Pick<DiscoveredServers, 'skipped'>, terminal = OWN_TERMINAL): void {
  const told = toldIn.get(terminal) ?? new Set()
  toldIn.set(terminal, told)
  for (const line of unreadFiles(skipped)) {
    if (!told.has(line)) terminal.stderr.write(visible(`sandbridge: ${line}\n`))
    told.add(line)
    terminal.exitCode = UNREAD
  }
}
