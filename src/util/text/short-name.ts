// Shortens names in errors: a caller may send a long name, which the error would repeat. Pure.

const MAX_CHARS = 100

/** Returns the name, or its start. */
export function shortName(name: string): string {
  return name.length <= MAX_CHARS ? name : `${name.slice(0, MAX_CHARS)}…`
}
