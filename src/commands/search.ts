// `sandbridge search`: what a cell's search_tool_docs would find.
import { unsearchedNote } from '../proxy/unsearched-note.ts'
import { safeForTerminal } from '../text/terminal-text.ts'
import { withBridge } from './open-bridge.ts'
import { print, printJson } from './print.ts'

interface SearchOptions {
  json?: boolean
  limit?: string
}

export async function search(query: string, options: SearchOptions): Promise<void> {
  await withBridge(async ({ catalog }) => {
    const docs = await catalog.search(query, options.limit === undefined ? {} : { limit: Number(options.limit) })
    const note = unsearchedNote(catalog.unsearched(catalog.servers().map(({ name }) => name)), [])
    if (note) process.stderr.write(`${safeForTerminal(note)}\n`)
    if (options.json) printJson(docs)
    else print(docs.map((doc) => doc.line).join('\n') || 'There are no tools. See `sandbridge servers`.')
  })
}
