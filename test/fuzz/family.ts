// The interface of a fuzzed part of the bridge: valid inputs to start from, and an attempt that throws when a promise
// is broken.

export interface Family {
  name: string
  /** Valid inputs. */
  seeds: readonly Buffer[]
  /** @throws when the part crashes, or works differently afterwards */
  attempt(input: Buffer): Promise<void> | void
  /** Attempts of a short run: few for parts that start something. */
  shortRuns: number
  close?(): Promise<void>
}

export function assertHolds(condition: boolean, promise: string): asserts condition {
  if (!condition) throw new Error(`Broken promise: ${promise}`)
}

/** Parsing must not have changed what every object inherits. */
export function assertUnpolluted(): void {
  assertHolds(!('polluted' in {}), 'no input changes Object.prototype')
}
