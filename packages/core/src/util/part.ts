// A part that a build may lack. The core declares its use; packages/sandbridge/src/packages.ts has its code.
import { BridgeError } from '../errors.ts'

/** Says where the code of a part is. */
export type FillPart = () => void

/** `T` is what the core uses of it. */
export class Part<T> {
  readonly #name: string
  #load: (() => Promise<T>) | undefined

  /** @param name as a person knows it: `PostgreSQL` */
  constructor(name: string) {
    this.#name = name
  }

  /** @param load imports its code. @returns what a package brings, for its list of parts */
  at(load: () => Promise<T>): FillPart {
    return () => void (this.#load = load)
  }

  get isHere(): boolean {
    return this.#load !== undefined
  }

  /** The same where the core does without it. */
  async ifHere(): Promise<T | undefined> {
    return this.isHere ? this.#load!() : undefined
  }

  /**
   * Loads it at its first use.
   * @param asker the setting or command that needs it
   * @throws BridgeError CONFIG_INVALID if this build lacks it
   */
  async for(asker: string): Promise<T> {
    if (this.#load) return this.#load()
    throw new BridgeError('CONFIG_INVALID', `${asker} needs ${this.#name}, which is not in this build`, {
      hint: `Do without it, or install a build of Sandbridge that has ${this.#name}.`,
    })
  }
}
