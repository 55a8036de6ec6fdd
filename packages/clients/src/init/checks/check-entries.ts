// Finds entries of this bridge that start nothing, or another version: the client then only says that it has failed.
import { hostPaths, nodeFileSystem, readFileText } from '@sandbridge/core/config'
import { parseDocument } from '@sandbridge/core/config/formats'
import type { HostPaths } from '@sandbridge/core/config'
import { launchesBridge, toServerBody } from '@sandbridge/core/config/entries'
import { processContext } from '@sandbridge/core/config/settings'
import type { Settings } from '@sandbridge/core/config/settings'
import type { Finding } from '@sandbridge/core/serve/cli'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { PACKAGE_ROOT, VERSION } from '@sandbridge/core/util'
import { CLIENT_READERS } from '../../readers/client-readers.ts'
import { applyInit } from '../apply-init.ts'
import { BRIDGE_NAME, type BridgeCommand, targetsOf } from '../plan/targets.ts'
import { bridgeCommand } from './bridge-command.ts'
import { entryByHand } from '../plan/entry-by-hand.ts'
import { otherStart } from '../plan/entry-state.ts'
import { addLoginItem, loginItemWords, type Machine, removeLoginItem } from '../login-item.ts'
import { entriesIn, planInit, type ReplacedEntry } from '../plan/plan-init.ts'

export async function checkEntries(settings: Settings, context = processContext()): Promise<Finding[]> {
  const place = hostPaths(settings, context)
  const command = commandOrNone()
  if (command === undefined) return []
  const { replaced } = await planInit({ place, command, move: false, root: PACKAGE_ROOT, ownPaths: context.ownPaths })
  const found = [...replaced, ...(await inOtherPlaces(place, command))]
  const entries = found.flatMap(({ client, file, start, byHand, change }): Finding[] => {
    // Two installations of one version may be meant.
    if (start.version === VERSION) return []
    const message = `${client}: the entry of sandbridge in ${file} ${start.text}.`
    const byItself = `Then it starts version ${VERSION}${start.version === undefined ? '' : ', no other version'}.`
    if (change === undefined) return [{ check: 'entries', level: 'warning', message, advice: `Write there: ${byHand}` }]
    const fix = async (): Promise<void> => {
      const { skipped } = await applyInit([change], settings.stateDir)
      if (skipped[0]) throw new BridgeError('CONFIG_INVALID', skipped[0].reason)
    }
    const advice = `Write ${byHand}, or run sandbridge doctor --fix. ${byItself}`
    return [{ check: 'entries', level: 'warning', message, advice, fix }]
  })
  return [...entries, ...(await checkLoginItem(command, place))]
}

/** A login item that fails shows no message. */
export async function checkLoginItem(command: BridgeCommand, machine: Machine): Promise<Finding[]> {
  const [first = '', ...args] = await loginItemWords(machine)
  const start = await otherStart({ transport: { type: 'stdio', command: first, args, env: {} } }, PACKAGE_ROOT)
  if (start === undefined || start.version === VERSION) return []
  const fix = async (): Promise<void> => {
    await removeLoginItem(machine)
    const reason = await addLoginItem(command, machine)
    if (reason !== undefined) throw new BridgeError('STATE_UNWRITABLE', reason)
  }
  const message = `The start at login ${start.text}.`
  return [{ check: 'entries', level: 'warning', message, advice: 'Run sandbridge doctor --fix.', fix }]
}

/** Undefined in a package that is not installed, whose doctor can advise nothing. */
function commandOrNone(): BridgeCommand | undefined {
  try {
    return bridgeCommand(PACKAGE_ROOT, process.execPath)
  } catch {
    return undefined
  }
}

/** Entries that init does not change: in files of projects and of clients with several lists, and of other names. */
async function inOtherPlaces(place: HostPaths, command: BridgeCommand): Promise<ReplacedEntry[]> {
  const planned = new Set(targetsOf(place).flatMap(({ files }) => files))
  const found: ReplacedEntry[] = []
  for (const reader of CLIENT_READERS)
    for (const { path: file, kind, format = reader.format } of reader.locations(place)) {
      if (kind === 'folder') continue
      const read = await readFileText(nodeFileSystem, file)
      const parsed = 'text' in read ? await parseDocument(read.text, format) : undefined
      if (parsed === undefined || 'reason' in parsed) continue
      for (const { name, entry } of entriesIn(reader, parsed.document, place, file)) {
        if (entry === undefined || (name === BRIDGE_NAME && planned.has(file))) continue
        const made = toServerBody(entry)
        const isOwn = 'body' in made && launchesBridge(made.body.transport, [])
        const start = isOwn ? await otherStart(made.body, PACKAGE_ROOT) : undefined
        if (start)
          found.push({ client: reader.client, file, start, byHand: entryByHand([], { ...command }, format, name) })
      }
    }
  return found
}
