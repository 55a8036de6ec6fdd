// The result of a parser. Pure.

/** A reason has only the kind of error and its position: a parser's own message may quote secrets of the file. */
export type Parsed = { value: unknown } | { reason: string; offset?: number }
