// `sandbridge tools SERVER [TOOL]`: lists the tools of a server as lines that call them, or one tool in detail.
import { count, firstSentence } from '@sandbridge/core/util/text'
import type { ToolDoc } from '@sandbridge/core/calls/catalog'
import { type Cell, indented, type Terminal } from '@sandbridge/core/serve/cli/terminal'
import { namedServer } from '@sandbridge/shared/servers/named-server.ts'
import { withServers } from '@sandbridge/shared/open-bridge.ts'

const DESCRIPTION_CHARS = 100

export async function tools(
  server: string,
  tool: string | undefined,
  options: { json?: boolean },
  terminal: Terminal,
): Promise<void> {
  const { stdout, print, printEmpty, printJson } = terminal
  await withServers(terminal, async (bridge) => {
    const name = namedServer(bridge, server)
    const wanted = tool === undefined ? {} : { tools: [tool], detail: 'full' as const }
    const docs = await bridge.catalog.docs(name, { ...wanted, resultsOf: { user: undefined } })
    if (options.json) printJson(docs)
    else if (docs.length === 0) printEmpty(`Server '${name}' has no tools.`)
    else if (tool === undefined && stdout.isTTY) printList(name, docs, terminal)
    else print(docs.map(asText).join('\n'))
  })
}

function printList(server: string, docs: readonly ToolDoc[], { printSummary, printTable }: Terminal): void {
  const rows = docs.map(({ toolAlias, description }): Cell[] => [
    { text: toolAlias, style: 'cyan' },
    firstSentence(description, DESCRIPTION_CHARS),
  ])
  printTable(rows, { head: ['TOOL', 'WHAT IT DOES'] })
  printSummary(`${count(docs.length, 'tool')}. How to call one: sandbridge tools ${server} ${docs[0]!.toolAlias}`)
}

/** The line that calls it, and below it the description of the tool and of each parameter. */
export function asText({ line, description, params, example }: ToolDoc): string {
  if (params === undefined) return line
  const words = [
    description,
    ...params.map(({ name, type, description: about }) => `${name}: ${type}${about ? `  ${about}` : ''}`),
  ]
  return [line, ...words.filter(Boolean).map(indented), ...(example ? [`Example: ${example}`] : [])].join('\n')
}
