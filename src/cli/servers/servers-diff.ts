// `sandbridge servers diff`: shows tools that differ from their server's first listing, and text in descriptions that
// addresses the model.
import { definitionKey } from '../../calls/catalog/disk-cache.ts'
import { changesIn, type FirstListed, shown } from '../../calls/catalog/first-listings.ts'
import { suspiciousWords } from '../../config/rules/suspicious-words.ts'
import type { UpstreamTool } from '../../upstream/upstream.ts'
import type { CommandBridge } from '../terminal/command-bridge.ts'
import type { Printer } from '../terminal/print.ts'

interface ToolChange {
  server: string
  tool: string
  kind: 'changed' | 'added'
  before?: unknown
  after: unknown
}

export async function printDiff(
  bridge: CommandBridge,
  options: { json?: boolean; accept?: boolean },
  { print, printEmpty, printJson, printStyled }: Printer,
): Promise<void> {
  const changes: ToolChange[] = []
  const warnings: string[] = []
  for (const definition of bridge.discovered.servers) {
    const tools = bridge.catalog.toolsOfAnyClient(definition.name)
    const key = definitionKey(definition)
    const first = await bridge.servers.firstListings.first(key)
    changes.push(...changesOf(definition.name, first, tools))
    for (const tool of tools) {
      const found = suspiciousWords(JSON.stringify(shown(tool)), tool.hidesWords === true)
      warnings.push(...found.map((what) => `${definition.name}.${tool.name}: ${what}`))
    }
    if (options.accept) await bridge.servers.firstListings.accept(key, tools)
  }
  if (options.json) return printJson({ changes, warnings, accepted: options.accept === true })
  for (const warning of warnings) printStyled('yellow', `Look at ${warning}`)
  if (changes.length === 0) return printEmpty('No tool has changed since its server was first listed.')
  for (const { server, tool, kind, before, after } of changes) {
    print(`${server}.${tool}: ${kind}`)
    for (const [field, was, is] of fieldsOf(before, after)) {
      if (was !== undefined) printStyled('red', `  - ${field}: ${was}`)
      if (is !== undefined) printStyled('green', `  + ${field}: ${is}`)
    }
  }
  print(options.accept ? 'Accepted as they are now.' : 'Accept them as they are: sandbridge servers diff --accept')
}

function changesOf(
  server: string,
  first: ReadonlyMap<string, FirstListed>,
  tools: readonly UpstreamTool[],
): ToolChange[] {
  return changesIn(first, tools).map((name) => {
    const listed = first.get(name)
    return {
      server,
      tool: name,
      kind: listed ? 'changed' : 'added',
      ...(listed?.definition !== undefined && { before: listed.definition }),
      after: shown(tools.find((tool) => tool.name === name)!),
    }
  })
}

/** The fields that differ, as JSON. */
function fieldsOf(before: unknown, after: unknown): [string, string | undefined, string | undefined][] {
  const [was, is] = [before, after].map((one) => new Map(Object.entries((one ?? {}) as Record<string, unknown>)))
  const names = [...new Set([...was!.keys(), ...is!.keys()])]
  return names
    .map((name): [string, string | undefined, string | undefined] => [
      name,
      JSON.stringify(was!.get(name)),
      JSON.stringify(is!.get(name)),
    ])
    .filter(([, a, b]) => a !== b)
}
