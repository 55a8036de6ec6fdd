// The rules in a user's own folder, in addition to those for all; they can only make things stricter.
import path from 'node:path'
import type { Rule } from './rules/rule.ts'
import { nodeFileSystem } from './config-file.ts'
import { readRulesFile } from './permission-files.ts'
import { PERMISSIONS_FILE } from './readers/own-places.ts'
import { PlacesSeen } from './places-seen.ts'

export class UserRules {
  readonly #file: string
  #seen = new PlacesSeen()
  #rules: readonly Rule[] | undefined

  constructor(folder: string) {
    this.#file = path.join(folder, PERMISSIONS_FILE)
  }

  /** Returns the same list while the file is unchanged. @throws BridgeError CONFIG_INVALID with every problem */
  async read(): Promise<readonly Rule[]> {
    if (this.#rules && !this.#seen.hasChanged()) return this.#rules
    this.#rules = undefined
    const seen = (this.#seen = new PlacesSeen())
    const origin = { scope: 'project', file: this.#file, shown: 'permissions.json of this user' } as const
    const { rules } = await readRulesFile(seen.noting(nodeFileSystem), origin)
    return (this.#rules = rules)
  }
}
