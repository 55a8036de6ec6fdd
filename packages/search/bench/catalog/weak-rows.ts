// Rows on weak answers: how many queries without a fitting tool a search recognises, and how many answers with the
// wanted tool it calls weak.
import type { Catalog } from '../../../core/src/calls/catalog/catalog.ts'
import type { UpstreamTool } from '../../../core/src/upstream/upstream.ts'
import { type BenchRow, reported } from '../../../../bench/row.ts'

interface Goals {
  /** Greatest share of answers with the wanted tool that are called weak. */
  wrong: number
  /** Least share of queries without a fitting tool that are recognised. */
  recognised: number
}

/** Servers that a catalog has at once: with few, there is often no tool that fits. */
const AT_ONCE = 3

/**
 * Asks every query of catalogs with three servers each: of those that have the wanted tool, and of those that do not.
 */
export async function weakRows(
  tools: ReadonlyMap<string, UpstreamTool[]>,
  queries: readonly { query: string; want: string[] }[],
  catalogOf: (tools: Map<string, UpstreamTool[]>) => Catalog,
  set: string,
  goals: Goals,
): Promise<BenchRow[]> {
  const withTool = { count: 0, weak: 0, guessed: 0 }
  const without = { count: 0, weak: 0, guessed: 0 }
  const all = [...tools]
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const some = new Map(all.slice(at, at + AT_ONCE))
    const catalog = catalogOf(some)
    for (const { query, want } of queries) {
      const docs = await catalog.search(query)
      const isThere = want.some((tool) => some.has(tool.split(' ')[0]!))
      if (isThere && !docs.some((doc) => want.includes(`${doc.server} ${doc.tool}`))) continue
      const counted = isThere ? withTool : without
      counted.count += 1
      const note = docs[0]?.weak
      if (note?.startsWith('No tool fits')) counted.weak += 1
      else if (note !== undefined) counted.guessed += 1
    }
  }
  const wrong = withTool.weak / withTool.count
  const recognised = without.weak / without.count
  const guessed = ({ count, guessed: some }: typeof withTool): string => (some / count).toFixed(3)
  return [
    reported(
      `answers called guesses, with the wanted tool and without${set}`,
      `${guessed(withTool)}, ${guessed(without)}`,
    ),
    {
      name: `answers with the wanted tool that are called weak${set} (${withTool.count})`,
      value: wrong.toFixed(3),
      goal: `≤ ${goals.wrong}`,
      ok: wrong <= goals.wrong,
    },
    {
      name: `queries without a fitting tool that are recognised, of 3 servers${set} (${without.count})`,
      value: recognised.toFixed(3),
      goal: `≥ ${goals.recognised}`,
      ok: recognised >= goals.recognised,
    },
  ]
}
