// `sandbridge servers diff`: tools that differ from their first listing, and text that addresses the model.
import { changesIn, pinnedIn, type Pins, shown } from '@sandbridge/core/calls/catalog'
import type { UpstreamTool } from '@sandbridge/core/upstream'
import type { OpenTenant } from '@sandbridge/core/bridge'
import type { Printer } from '@sandbridge/core/serve/cli/terminal'

const TO_THE_MODEL = [
  /\b(ignore|disregard|forget)\b.{0,40}\b(previous|prior|above|earlier|other|all)\b/i,
  /\b(do not|don't|never)\b.{0,30}\b(tell|inform|mention|show|reveal|ask)\b.{0,20}\b(the )?user\b/i,
  /\b(always|must)\b.{0,30}\b(say|answer|reply|choose|confirm)\b.{0,15}\b(yes|approve|allow|accept)/i,
  /\byou (must|should|are|have to)\b.{0,60}\b(before|instead of|first call|always call)\b/i,
  /<\s*\/?\s*(important|system|instructions?|secret)\b[^>]*>/i,
]
const MAX_CHARS = 200_000

interface ToolChange {
  server: string
  tool: string
  kind: 'changed' | 'added'
  before?: unknown
  after: unknown
}

export async function printDiff(
  bridge: OpenTenant,
  options: { json?: boolean; accept?: boolean },
  { print, printEmpty, printJson, printStyled }: Printer,
): Promise<void> {
  const changes: ToolChange[] = []
  const warnings: string[] = []
  for (const definition of bridge.discovered.servers) {
    const { toolsOfAnyClient: tools, pins } = bridge.catalog.of(definition.name)
    changes.push(...changesOf(definition.name, pins, tools))
    for (const tool of tools) {
      const found = suspiciousWords(JSON.stringify(shown(tool)), tool.hidesWords === true)
      warnings.push(...found.map((what) => `${definition.name}.${tool.name}: ${what}`))
    }
    if (options.accept) await bridge.catalog.accept(definition.name, tools)
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

function changesOf(server: string, pins: Pins, tools: readonly UpstreamTool[]): ToolChange[] {
  return changesIn(pins, tools).map((name) => {
    const listed = pinnedIn(pins, name)
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

// Finds text in a tool's description that is hidden from people, or that addresses the model instead of describing the
// tool. The result is only a remark for the user: an attacker can always find words that are not listed here.

/**
 * Returns a short phrase for each kind of suspicious text.
 * @param hasHidden whether invisible characters were removed from the text
 */
function suspiciousWords(text: string, hasHidden: boolean): string[] {
  const looked = text.slice(0, MAX_CHARS)
  const said = TO_THE_MODEL.map((pattern) => pattern.exec(looked)?.[0]).find((found) => found !== undefined)
  return [
    ...(hasHidden ? ['had invisible characters, which were removed'] : []),
    ...(said === undefined ? [] : [`addresses the model: ${JSON.stringify(said.slice(0, 100))}`]),
  ]
}
