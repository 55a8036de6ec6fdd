// Puts tools that the user's earlier searches led to among those that a search found. Pure.

/** A small constant: the first place of either list outweighs all later ones. */
const K = 2

/**
 * Fuses both lists by reciprocal rank (Cormack, Clarke, Büttcher, 2009). What ranks first by its words stays among the
 * first two, whatever was learned.
 * @param learned tools with the likeness of their earlier search, from 0 to 1, the most alike first
 */
export function fuseLearned<T>(
  found: readonly T[],
  learned: readonly { item: T; likeness: number }[],
  limit: number,
): T[] {
  const scores = new Map(found.map((item, at) => [item, 1 / (K + at)]))
  for (const [at, { item, likeness }] of learned.entries())
    scores.set(item, (scores.get(item) ?? 0) + likeness / (K + at))
  const ranked = [...scores].toSorted((a, b) => b[1] - a[1]).map(([item]) => item)
  const [first] = found
  const others = ranked.filter((item) => item !== first)
  return (ranked[0] === first || first === undefined ? ranked : [others[0]!, first, ...others.slice(1)]).slice(0, limit)
}
