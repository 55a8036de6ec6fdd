// What the judged mutations say of the two tiers.
/** In the order in which they are asked. What runs behind relays is asked in neither, unless it has the tag. */
export const TIERS = [
  { name: 'first tier', filter: '--tags-filter=!whole' },
  { name: 'left out', filter: '--tags-filter=whole' },
]

/** @param judged `{ id, tier, caught }` of each mutation and tier that was asked */
export function printTable(mutations, judged) {
  const ends = mutations.map(({ id }) => {
    const asked = judged.filter((one) => one.id === id)
    const caught = asked.find((one) => one.caught)
    if (caught === undefined) return { end: asked.length === TIERS.length ? 'neither' : 'open' }
    return { end: caught.tier, by: caught.caught }
  })
  const count = (end) => ends.filter((one) => one.end === end).length
  const byRow = new Map()
  for (const { end, by } of ends) {
    const row = `| ${by} | ${end} |`
    if (by !== undefined) byRow.set(row, (byRow.get(row) ?? 0) + 1)
  }
  const rows = [...byRow].toSorted(([, a], [, b]) => b - a).map(([row, caught]) => `${row} ${caught} |`)
  const lines = [
    '| What caught it | Tier | Mutations |',
    '|---|---|---|',
    ...rows,
    '',
    `${ends.length} mutations: ${count('first tier')} caught by the first tier, ${count('left out')} only by the tests that ` +
      `it leaves out, ${count('neither')} by neither, ${count('open')} missed so far or not judged.`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
