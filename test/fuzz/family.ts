// What a fuzzed part of the bridge offers: right inputs to start from, and a try that throws when a promise is broken.

export interface Family {
  name: string
  /** Right inputs. */
  seeds: readonly Buffer[]
  /** @throws when the part crashes, or does not work afterwards as it did before */
  attempt(input: Buffer): Promise<void> | void
  /** How many attempts a short run makes: those that start something are few. */
  shortRuns: number
  close?(): Promise<void>
}

export function assertHolds(condition: boolean, promise: string): asserts condition {
  if (!condition) throw new Error(`Broken promise: ${promise}`)
}

/** Nothing that was parsed may have changed what every object inherits. */
export function assertUnpolluted(): void {
  assertHolds(!('polluted' in {}), 'no input changes Object.prototype')
}
