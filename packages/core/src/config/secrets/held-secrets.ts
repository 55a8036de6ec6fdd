// Secrets that become known while the bridge runs, such as the tokens of sign-ins: redacted like those of definitions.

/** More than are in use at once; the oldest are forgotten first. */
const MAX_HELD = 2_000

export class HeldSecrets {
  readonly values = new Set<string>()
  /** Changes whenever a value is added. */
  version = 0

  add(...values: (string | undefined)[]): void {
    for (const value of values) {
      if (!value || this.values.has(value)) continue
      this.values.add(value)
      this.version += 1
      if (this.values.size > MAX_HELD) this.values.delete(this.values.values().next().value!)
    }
  }
}
