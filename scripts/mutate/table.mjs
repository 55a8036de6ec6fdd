// What the judged mutations say of the two tiers.
import { STEPS } from './judge.mjs'

/** @param judged `{ id, tier, caught }` of each mutation and step that it took */
export function printTable(mutations, judged) {
  const ends = mutations.map(({ id }) => {
    const steps = judged.filter((one) => one.id === id)
    const caught = steps.find((one) => one.caught)
    if (caught === undefined) return { end: steps.length === STEPS.length ? 'neither' : 'open' }
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
