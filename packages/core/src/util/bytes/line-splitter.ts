// Splits bytes into lines at LF only (U+2028 is ordinary in JSON). Drops one above the limit, reports its ends.

/** How many bytes of each end of a dropped line are kept. */
const ENDS_BYTES = 256

export interface LineSplitterOptions {
  maxBytes: number
  /** Receives a line without its LF and without a CR before it. Never empty. */
  onLine: (line: Buffer) => void
  onTooLong: (line: LineEnds & { bytes: number }) => void
}

/** The first and the last bytes of a line, as latin1. */
export interface LineEnds {
  head: string
  tail: string
}

/** Returns the same ends for a complete line. */
export function lineEnds(line: Buffer): LineEnds {
  return { head: line.toString('latin1', 0, ENDS_BYTES), tail: line.subarray(-ENDS_BYTES).toString('latin1') }
}

export interface LineSplitter {
  push(chunk: Buffer): void
  /** The bytes of a line that has not ended; none of one that is dropped. */
  readonly rest: Buffer
}

export function createLineSplitter(options: LineSplitterOptions): LineSplitter {
  let pieces: Buffer[] = []
  let size = 0
  let head = ''
  let tail: Buffer = Buffer.alloc(0)
  let dropping = false

  const startDropping = (): void => {
    dropping = true
    const start = Buffer.concat(pieces)
    pieces = []
    head = start.toString('latin1', 0, ENDS_BYTES)
    tail = Buffer.from(start.subarray(-ENDS_BYTES))
  }

  const take = (piece: Buffer): void => {
    size += piece.length
    if (dropping) tail = Buffer.concat([tail, piece.subarray(-ENDS_BYTES)]).subarray(-ENDS_BYTES)
    else {
      pieces.push(piece)
      if (size > options.maxBytes) startDropping()
    }
  }

  const endLine = (): void => {
    const bytes = size
    const held = pieces
    size = 0
    pieces = []
    if (dropping) {
      dropping = false
      options.onTooLong({ head, tail: tail.toString('latin1'), bytes })
      return
    }
    const whole = held.length === 1 ? held[0]! : Buffer.concat(held)
    const end = whole.at(-1) === 0x0d ? whole.length - 1 : whole.length
    if (end > 0) options.onLine(whole.subarray(0, end))
  }

  return {
    get rest() {
      return Buffer.concat(pieces)
    },
    push(chunk) {
      let from = 0
      for (;;) {
        const lf = chunk.indexOf(0x0a, from)
        if (lf === -1) break
        if (lf > from || size > 0) {
          take(chunk.subarray(from, lf))
          endLine()
        }
        from = lf + 1
      }
      if (from < chunk.length) take(chunk.subarray(from))
    },
  }
}
