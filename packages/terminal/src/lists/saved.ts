// `sandbridge saved`: lists, shows and deletes the functions that cells have saved.
import { savedToolLine } from '@sandbridge/memories/saved/saved-tool.ts'
import { SavedToolStore } from '@sandbridge/memories/saved/saved-tool-store.ts'
import { savedOf } from '@sandbridge/memories/saved/saved-things.ts'
import { parseVersion } from './artifacts.ts'
import type { Cell, Terminal } from '@sandbridge/core/serve/cli/terminal'
import { ownStore } from '@sandbridge/shared/own-store.ts'
import { withServers } from '@sandbridge/shared/open-bridge.ts'
import { count } from '@sandbridge/core/util/text'
import { fieldsOf, parseJson } from '@sandbridge/core/util/json/json.ts'
import type { Store } from '@sandbridge/core/util/stores'

interface SavedOptions {
  json?: boolean
  remove?: string
}

const NO_SAVED =
  'No saved functions yet. A cell saves one with runtime.save_tool(func), and other cells import it from user_tools.'

export async function saved(
  name: string | undefined,
  version: string | undefined,
  options: SavedOptions,
  terminal: Terminal,
): Promise<void> {
  if (options.remove !== undefined) await removeSaved(functionName(options.remove), options, terminal)
  else if (name !== undefined) await showSaved(functionName(name), version, options, terminal)
  else await listSaved(options, terminal)
}

/**
 * Sets the exit code to 1 when one of them is broken. Starts a sandbox when it is not known whether some of them load.
 */
async function listSaved({ json }: SavedOptions, terminal: Terminal): Promise<void> {
  const { printEmpty, printJson, printSummary, printTable } = terminal
  const { tools, broken } = await withServers(terminal, (bridge) => savedOf(bridge.own).loadable.list())
  if (broken.length > 0) terminal.exitCode = 1
  if (json) return printJson([...tools, ...broken])
  if (tools.length + broken.length === 0) return printEmpty(NO_SAVED)
  const rows: Cell[][] = [
    ...tools.map((tool) => [`version ${tool.version}`, savedToolLine(tool)]),
    ...broken.map((tool) => [{ text: 'broken', style: 'red' as const }, `${tool.name}: ${tool.problem}`]),
  ]
  printTable(rows, { head: ['STATE', 'FUNCTION'] })
  const [first] = [...tools, ...broken]
  printSummary(`${count(rows.length, 'saved function')}. The source of one: sandbridge saved ${first!.name}`)
}

async function showSaved(
  name: string,
  version: string | undefined,
  { json }: SavedOptions,
  { print, printJson }: Terminal,
): Promise<void> {
  const tool = await (await openStore()).find(name, version === undefined ? undefined : parseVersion(version))
  if (json) return printJson(tool)
  print([...tool.imports, ...(tool.imports.length > 0 ? ['', ''] : []), tool.source.trimEnd()].join('\n'))
}

async function removeSaved(name: string, { json }: SavedOptions, { print, printJson }: Terminal): Promise<void> {
  const store = await ownStore()
  await new SavedToolStore(store).remove(name)
  const scheduled = await schedulesOf(store, name)
  if (json) return printJson({ removed: name, ...(scheduled.length > 0 && { scheduled }) })
  print(`Deleted '${name}' with all its versions.`)
  for (const id of scheduled)
    print(`It is still on a schedule, and will fail. End it: sandbridge schedule ${id} --remove`)
}

/** The schedules of a workflow. The package of workflows keeps them, and may be missing. */
async function schedulesOf(store: Store, name: string): Promise<string[]> {
  const all = fieldsOf(parseJson((await store.document('schedules.json').read()) ?? ''))
  return Object.keys(all).filter((id) => functionName(String(fieldsOf(all[id])['workflow'])) === name)
}

/** Other commands call a workflow by its own name, such as weekly-report. */
const functionName = (name: string): string => name.replaceAll('-', '_')

async function openStore(): Promise<SavedToolStore> {
  return new SavedToolStore(await ownStore())
}
