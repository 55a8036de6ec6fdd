// What is worth saying of tools that are listed by themselves: what that costs, which one more would save a cell each
// time, and which are never called. From the record, which names tools whether or not it holds values.
import type { OpenTenant } from '@sandbridge/core/bridge'
import { type CatalogTool, listingTokens } from '@sandbridge/core/calls/catalog'
import { count, didYouMeanText, fitsGlob, listText, shortName } from '@sandbridge/core/util/text'
import { recordIn } from '@sandbridge/record/audit/other-files.ts'
import { readRecord } from '@sandbridge/record/audit/read-record.ts'
import { textOf } from '@sandbridge/record/audit/record-entry.ts'
import { chosenTools } from './direct-tools.ts'

const DAYS = 21
const DAY_MS = 24 * 60 * 60_000
const MAX_ENTRIES = 50_000
/** Fewer calls say nothing of the next ones. */
const MIN_CELLS = 10
const MAX_NAMED = 3

export interface RecordedCall {
  cell: string
  server: string
  tool: string
}

/** For `sandbridge servers` and the page, a sentence each. */
export async function listingNotes(
  { stores, set: { connected } }: Pick<OpenTenant, 'stores' | 'set'>,
  now = Date.now(),
): Promise<string[]> {
  const { catalog } = connected
  const listed = chosenTools(connected)
  const known = new Set(catalog.servers().map(({ name }) => name))
  const entries = await readRecord(recordIn(stores.of(undefined)), { since: now - DAYS * DAY_MS }, MAX_ENTRIES)
  const calls = entries.flatMap(({ type, fields }): RecordedCall[] => {
    const [cell, server, tool] = [textOf(fields, 'cell'), textOf(fields, 'server'), textOf(fields, 'name')]
    return type === 'call' && fields['kind'] === 'tool' && known.has(server) ? [{ cell, server, tool }] : []
  })
  const cost = listed.length === 0 ? [] : [costNote(listed)]
  return [...cost, ...unknownNotes(connected), ...proposals(calls, listed)]
}

/** Names in entries that no tool has. */
function unknownNotes({ catalog, upstreams }: OpenTenant['set']['connected']): string[] {
  return upstreams.definitions.flatMap(({ name: server, direct }) => {
    const names = catalog.of(server).tools?.map(({ name }) => name)
    const unknown =
      names && Array.isArray(direct) ? direct.filter((one) => !names.some((name) => fitsGlob(one, name))) : []
    return unknown.map((one) =>
      `"direct" of ${server} has '${shortName(one)}', which is no tool of it. ${didYouMeanText(one, names!)}`.trim(),
    )
  })
}

function costNote(listed: readonly CatalogTool[]): string {
  const tokens = count(listingTokens(listed), 'token')
  return `Listed by themselves: ${count(listed.length, 'tool')}, about ${tokens} in each conversation.`
}

/** Tools to list, because most cells that call them do nothing else, and listed ones that are never called. Pure. */
export function proposals(
  calls: readonly RecordedCall[],
  listed: readonly Pick<CatalogTool, 'server' | 'name'>[],
): string[] {
  const perCell = new Map<string, RecordedCall[]>()
  for (const call of calls) perCell.set(call.cell, [...(perCell.get(call.cell) ?? []), call])
  const uses = new Map<string, { server: string; tool: string; cells: number; alone: number }>()
  for (const made of perCell.values()) {
    for (const [id, { server, tool }] of new Map(made.map((call) => [`${call.server}.${call.tool}`, call]))) {
      const { cells, alone } = uses.get(id) ?? { cells: 0, alone: 0 }
      uses.set(id, { server, tool, cells: cells + 1, alone: alone + Number(made.length === 1) })
    }
  }
  const names = listed.map(({ server, name }) => `${server}.${name}`)
  const proposed = [...uses]
    .filter(([id, { cells, alone }]) => cells >= MIN_CELLS && alone > cells / 2 && !names.includes(id))
    .toSorted(([, a], [, b]) => b.alone - a.alone)
    .slice(0, MAX_NAMED)
    .map(
      ([id, { server, tool, cells, alone }]) =>
        `${id} was called alone in ${alone} of ${cells} cells: "direct": ["${tool}"] in the entry of ${server} saves a cell each time.`,
    )
  const unused = perCell.size < MIN_CELLS ? [] : names.filter((id) => !uses.has(id))
  if (unused.length === 0) return proposed
  const named = listText(unused.slice(0, MAX_NAMED), Math.max(0, unused.length - MAX_NAMED))
  return [...proposed, `Listed, and not called for ${DAYS} days: ${named}.`]
}
