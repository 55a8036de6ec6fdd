// `sandbridge search`: prints what a cell's search_tool_docs would return.
import { firstSentence } from '@sandbridge/core/util/text'
import type { ToolDoc } from '@sandbridge/core/calls/catalog'
import type { Wordings } from '@sandbridge/core/calls/catalog'
import { searchWithSaved } from '@sandbridge/memories/saved/search-with-saved.ts'
import { savedOf } from '@sandbridge/memories/saved/saved-things.ts'
import { limitOf } from '@sandbridge/shared/terminal/limit-option.ts'
import { noServers, unsearchedLines, untrustedNote } from '@sandbridge/shared/servers/server-notes.ts'
import { withServers } from '@sandbridge/shared/open-bridge.ts'
import type { Terminal } from '@sandbridge/core/serve/cli/terminal'

const DESCRIPTION_CHARS = 100

interface SearchOptions {
  json?: boolean
  limit?: string
}

export async function search(wordings: readonly string[], options: SearchOptions, terminal: Terminal): Promise<void> {
  const { tell, printEmpty, printJson } = terminal
  const limit = limitOf(options.limit)
  await withServers(terminal, async (bridge) => {
    const { catalog, own } = bridge
    const { learned } = bridge.tenant.person
    const { docs, broken } = await searchWithSaved(
      asWordings(wordings),
      { ...(limit !== undefined && { limit }), learned, resultsOf: { user: undefined } },
      catalog,
      savedOf(own).loadable,
    )
    for (const { name, problem } of broken) tell(`Not searched: the saved tool ${name} is broken: ${problem}`)
    // On stderr, because each line of stdout is a call.
    if (docs[0]?.weak !== undefined) tell(docs[0].weak)
    if (options.json) printJson(docs)
    else printFound(docs, terminal)
    const servers = catalog.servers().map(({ name }) => name)
    for (const line of unsearchedLines(catalog.unsearched(servers))) tell(line)
    for (const line of untrustedNote(bridge)) tell(line)
    if (servers.length === 0 && !options.json) printEmpty(noServers(bridge))
  })
}

/** Words without quotes are one wording: `sandbridge search create issue`. */
function asWordings(given: readonly string[]): Wordings {
  return given.some((one) => /\s/.test(one)) ? given : given.join(' ')
}

/** For a person, what each tool is and does; for a program, the line that calls it. */
function printFound(docs: readonly ToolDoc[], { stdout, print, printSummary, printTable }: Terminal): void {
  if (!stdout.isTTY) {
    for (const { line, worked } of docs) {
      print(line)
      if (worked !== undefined) print(`  # worked: ${worked}`)
    }
    return
  }
  printTable(
    docs.map(({ server, toolAlias, description }) => [
      server,
      { text: toolAlias, style: 'cyan' },
      firstSentence(description, DESCRIPTION_CHARS),
    ]),
    { head: ['SERVER', 'TOOL', 'WHAT IT DOES'] },
  )
  const [best] = docs
  if (best) printSummary(`How to call one: sandbridge tools ${best.server} ${best.toolAlias}`)
}
