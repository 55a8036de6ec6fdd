// `sandbridge saved`: lists, shows, deletes, exports and imports the functions that cells have saved.
import { readFile, writeFile } from 'node:fs/promises'
import * as z from 'zod'
import { BridgeError, messageOf } from '../../errors.ts'
import { savedToolContent, savedToolLine } from '../../keep/saved/saved-tool.ts'
import { parseSavedTool, SavedToolStore } from '../../keep/saved/saved-tool-store.ts'
import { parseVersion } from './artifacts.ts'
import { withBridge } from '../terminal/open-bridge.ts'
import { ownStore } from '../terminal/own-store.ts'
import { count } from '../../util/text/count.ts'
import { parseJson } from '../../util/json/json.ts'
import { type Cell, print, printEmpty, printJson, printSummary, printTable } from '../terminal/print.ts'

interface SavedOptions {
  json?: boolean
}

const NO_SAVED =
  'No saved functions yet. A cell saves one with runtime.save_tool(func), and other cells import it from user_tools.'
const MAX_FILE_CHARS = 64 * 1024 * 1024
const exported = z.object({ sandbridgeTools: z.literal(1), tools: z.array(z.unknown()).max(1_000) })

/**
 * Sets the exit code to 1 when one of them is broken. Starts a sandbox when it is not known whether some of them load.
 */
export async function listSaved({ json }: SavedOptions): Promise<void> {
  const { tools, broken } = await withBridge((bridge) => bridge.loadableTools.list())
  if (broken.length > 0) process.exitCode = 1
  if (json) return printJson([...tools, ...broken])
  if (tools.length + broken.length === 0) return printEmpty(NO_SAVED)
  const rows: Cell[][] = [
    ...tools.map((tool) => [`version ${tool.version}`, savedToolLine(tool)]),
    ...broken.map((tool) => [{ text: 'broken', style: 'red' as const }, `${tool.name}: ${tool.problem}`]),
  ]
  printTable(rows, { head: ['STATE', 'FUNCTION'] })
  const [first] = [...tools, ...broken]
  printSummary(`${count(rows.length, 'saved function')}. The source of one: sandbridge saved show ${first!.name}`)
}

export async function showSaved(name: string, version: string | undefined, { json }: SavedOptions): Promise<void> {
  const tool = await (await openStore()).find(name, version === undefined ? undefined : parseVersion(version))
  if (json) return printJson(tool)
  print([...tool.imports, ...(tool.imports.length > 0 ? ['', ''] : []), tool.source.trimEnd()].join('\n'))
}

export async function removeSaved(name: string): Promise<void> {
  await (await openStore()).remove(name)
  print(`Deleted '${name}' with all its versions.`)
}

/** Writes the newest versions of all tools, or of the named ones, to a file for `import`. */
export async function exportSaved(file: string, names: string[]): Promise<void> {
  const store = await openStore()
  const { tools, broken } = await store.list()
  const chosen = names.length === 0 ? tools : await Promise.all(names.map((name) => store.find(name)))
  for (const { name, problem } of names.length === 0 ? broken : []) print(`skipped ${name}: ${problem}`)
  // Only the tools' content: versions and dates belong to this machine.
  const text = JSON.stringify(
    { sandbridgeTools: 1, tools: chosen.map((tool) => savedToolContent.parse(tool)) },
    undefined,
    2,
  )
  try {
    await writeFile(file, `${text}\n`)
  } catch (cause) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `The file '${file}' cannot be written: ${messageOf(cause)}`, {
      hint: '',
      cause,
    })
  }
  print(`Exported ${chosen.length} to ${file}.`)
}

/** Adds the tools of a file, each after loading it in a sandbox. Sets the exit code to 1 when one was skipped. */
export async function importSaved(file: string): Promise<void> {
  const tools = await readExported(file)
  await withBridge(async (bridge) => {
    // Tools may import each other in any order: retries failed ones as long as others succeed.
    let left = tools
    let failures: string[] = []
    for (let before = Infinity; left.length < before;) {
      before = left.length
      failures = []
      const again: unknown[] = []
      for (const tool of left) {
        try {
          const content = parseSavedTool(tool)
          const { name, version } = await bridge.savedTools.save(content, () => bridge.checkSavedTool(content))
          print(`${name}: version ${version}`)
        } catch (error) {
          if (!BridgeError.isInstance(error) || error.code !== 'STATE_REFUSED') throw error
          failures.push(`skipped: ${error.message}`)
          again.push(tool)
        }
      }
      left = again
    }
    for (const failure of failures) print(failure)
    if (failures.length > 0) process.exitCode = 1
  })
}

async function readExported(file: string): Promise<unknown[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `The file '${file}' cannot be read: ${messageOf(cause)}`, {
      hint: '',
      cause,
    })
  })
  const parsed = text.length > MAX_FILE_CHARS ? undefined : exported.safeParse(parseJson(text))
  if (parsed?.success) return parsed.data.tools
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', `The file '${file}' holds no exported tools`, {
    hint: 'Make one with `sandbridge saved export FILE`.',
  })
}

async function openStore(): Promise<SavedToolStore> {
  return new SavedToolStore(await ownStore())
}
