// `sandbridge search`: what a cell's search_tool_docs would find.
import { searchWithSaved } from '../proxy/search-with-saved.ts'
import { unsearchedNote } from '../proxy/unsearched-note.ts'
import { safeForTerminal } from '../text/terminal-text.ts'
import { withBridge } from './open-bridge.ts'
import { print, printJson } from './print.ts'

interface SearchOptions {
  json?: boolean
  limit?: string
}

export async function search(query: string, options: SearchOptions): Promise<void> {
  await withBridge(async ({ catalog, loadableTools }) => {
    const limit = options.limit === undefined ? {} : { limit: Number(options.limit) }
    const { docs, broken } = await searchWithSaved(query, limit, catalog, loadableTools)
    const note = unsearchedNote(catalog.unsearched(catalog.servers().map(({ name }) => name)), [])
    if (note) process.stderr.write(`${safeForTerminal(note)}\n`)
    for (const { name, problem } of broken) {
      process.stderr.write(`${safeForTerminal(`Not searched: the saved tool ${name} is broken: ${problem}`)}\n`)
    }
    if (options.json) printJson(docs)
    else print(docs.map((doc) => doc.line).join('\n') || 'There are no tools. See `sandbridge servers`.')
  })
}
