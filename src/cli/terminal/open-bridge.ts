// Opens the bridge for a command: its settings, a log if one was asked for, the bridge.
import { Bridge } from '../../bridge/bridge.ts'
import type { AskInput } from '../../config/entries/input-answers.ts'
import type { DiscoveredServers } from '../../config/entries/server-definition.ts'
import { loadSettings } from '../../config/settings/file/load-settings.ts'
import type { Settings } from '../../config/settings/settings.ts'
import { unreadFiles } from '../../config/notes/unread-files.ts'
import { createLog, SILENT } from '../../util/log.ts'
import { onShutdown } from '../../util/process/shutdown.ts'
import { chooseProvider, rememberedChoice } from '../../isolation/detect/choose-provider.ts'
import { features } from '../feature.ts'
import { askInTerminal } from './ask-in-terminal.ts'
import { offerPage } from './offer-page.ts'
import { visible } from './print.ts'
import { reportFailure } from './report-failure.ts'

/** The exit code of a command that did its work without the servers of an invalid file. */
const UNREAD = 1

/**
 * Tells of config files that cannot be read or parsed, and sets the exit code for them.
 *
 * @param changed what the command decides, whatever the settings say
 * @param remembersEngine whether `auto` may take what it took last time, and check that meanwhile
 * @throws BridgeError CONFIG_INVALID naming every invalid setting
 */
export async function openBridge(changed: Partial<Settings>, ask?: AskInput, remembersEngine = false): Promise<Bridge> {
  const settings = { ...(await loadSettings()), ...changed }
  // The command itself tells a person what matters.
  const log = process.env['MCP_BRIDGE_LOG_LEVEL'] ? createLog(settings.logLevel) : SILENT
  if (log === SILENT) for (const warning of settings.warnings) process.stderr.write(visible(`sandbridge: ${warning}\n`))
  const bridge = await Bridge.open(settings, log, {
    methods: features.methods,
    ...(ask && { ask }),
    ...(remembersEngine && { findProvider: chooseProvider(settings, log, rememberedChoice(settings)) }),
  })
  tellUnread(bridge.discovered)
  offerPage(bridge)
  return bridge
}

/**
 * Runs a command with a bridge that starts no sandbox in advance and may ask in the terminal, and closes the bridge
 * afterwards.
 */
export async function withBridge<T>(
  command: (bridge: Bridge) => Promise<T>,
  ask: AskInput | undefined = askInTerminal(),
  remembersEngine = false,
): Promise<T> {
  const bridge = await openBridge({ poolCount: 0 }, ask, remembersEngine)
  onShutdown(() => closeBridge(bridge), { watchStdin: false })
  try {
    return await command(bridge)
  } finally {
    // The command may have set 0.
    if (told.size > 0) process.exitCode ||= UNREAD
    await closeBridge(bridge)
  }
}

/** Closes the bridge. Tells a person when runs and calls of the command are not in the record. */
export async function closeBridge(bridge: Bridge): Promise<void> {
  await bridge.close()
  const { recordFailure, log } = bridge
  if (recordFailure && log === SILENT) reportFailure(recordFailure)
}

const told = new Set<string>()

/** Tells of config files that cannot be read or parsed, each once, and sets the exit code for them. */
export function tellUnread({ skipped }: Pick<DiscoveredServers, 'skipped'>): void {
  for (const line of unreadFiles(skipped)) {
    if (!told.has(line)) process.stderr.write(visible(`sandbridge: ${line}\n`))
    told.add(line)
    process.exitCode = UNREAD
  }
}
