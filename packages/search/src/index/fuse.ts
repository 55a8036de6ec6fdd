// Joins rankings into one by reciprocal rank fusion (Cormack, Clarke, Büttcher, 2009). Pure.

export interface Ranking<T> {
  /** The best first. */
  items: readonly T[]
  /** How much the ranking counts, up to 1. */
  say: number
}

/** How fast a place counts less the lower it is. Measured together with ANSWERED, see docs/benchmarks.md. */
const K = 2
/** What is left of the say of a ranking once its first place is taken. A lower place takes less. */
const ANSWERED = 0.25

/**
 * Returns the best `limit` items of all rankings, best first, each once. Wordings of one need agree on its tools.
 * Different needs share the places, because an item that is taken lessens the say of the rankings that it answers.
 */
export function fuse<T>(rankings: readonly Ranking<T>[], limit: number): T[] {
  const says = rankings.map(({ say }) => say)
  const votes = new Map<T, number[]>()
  for (const [at, { items }] of rankings.entries()) {
    for (const [place, item] of items.entries()) {
      let shares = votes.get(item)
      if (shares === undefined) votes.set(item, (shares = rankings.map(() => 0)))
      shares[at] = (K + 1) / (K + 1 + place)
    }
  }
  const fused: T[] = []
  while (fused.length < limit && votes.size > 0) {
    const [item, shares] = strongest(votes, says)
    fused.push(item)
    votes.delete(item)
    for (const [at, share] of shares.entries()) says[at]! *= 1 - (1 - ANSWERED) * share
  }
  return fused
}

/** Among equals, the first: a ranking's better item was added before its others. */
function strongest<T>(votes: ReadonlyMap<T, number[]>, says: readonly number[]): [T, number[]] {
  let best: [T, number[]] | undefined
  let most = -1
  for (const vote of votes) {
    const sum = vote[1].reduce((total, share, at) => total + share * says[at]!, 0)
    if (sum > most) [best, most] = [vote, sum]
  }
  return best!
}
