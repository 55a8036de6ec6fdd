// The result of a parser. Pure.

/**
 * A parser's own message may quote the file, which holds secrets, so a reason contains only the kind of error and its
 * position.
 */
export type Parsed = { value: unknown } | { reason: string; offset?: number }
