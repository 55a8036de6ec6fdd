// A name as an error quotes it. Whoever sends a name may send a long one, and gets it back in the error. Pure.

const MAX_CHARS = 100

/** The name itself, or its start. */
export function shortName(name: string): string {
  return name.length <= MAX_CHARS ? name : `${name.slice(0, MAX_CHARS)}…`
}
