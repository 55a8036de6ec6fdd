// Chooses which server ends when one more is to start than there may be. Pure.

interface Occupant {
  isIdle: boolean
  lastUsed: number
}

/**
 * Of `processes`, an idle one that nobody uses, or one of the sets that use more than the newcomer: nobody can have a
 * server ended that another set uses, by starting many of its own.
 */
export function whoMakesRoom<One extends Occupant>(
  processes: ReadonlyMap<One, ReadonlySet<object>>,
  newcomers: ReadonlySet<object>,
): One | undefined {
  const counts = new Map<object, number>()
  for (const users of processes.values()) for (const user of users) counts.set(user, (counts.get(user) ?? 0) + 1)
  const countOf = (user: object): number => counts.get(user) ?? 0
  const own = Math.min(...[...newcomers].map(countOf))
  const mayEnd = (user: object): boolean => newcomers.has(user) || countOf(user) > own + 1
  const most = (users: ReadonlySet<object>): number => Math.max(...[...users].map(countOf))
  const [first] = [...processes]
    .filter(([{ isIdle }, users]) => isIdle && [...users].every(mayEnd))
    .toSorted(([a, ofA], [b, ofB]) => {
      if (ofA.size === 0 || ofB.size === 0) return ofA.size - ofB.size || a.lastUsed - b.lastUsed
      return most(ofB) - most(ofA) || a.lastUsed - b.lastUsed
    })
  return first?.[0]
}
