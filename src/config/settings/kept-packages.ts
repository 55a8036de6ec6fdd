// The packages that `sandbridge packages add` has added: a list of requirements and paths of wheels, in a file of the
// state folder. MCP_BRIDGE_PACKAGES replaces it.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import * as z from 'zod'
import { JsonRecord } from '../../keep/json-record.ts'
import { parseJson } from '../../util/json/json.ts'
import { PACKAGE_WORD } from './sandbox.ts'

const packages = z.array(z.string().max(1_000).regex(PACKAGE_WORD)).max(1_000)

export class KeptPackages {
  readonly file: string
  readonly #record: JsonRecord<string[]>

  constructor(stateDir: string) {
    this.file = keptPackagesFile(stateDir)
    this.#record = new JsonRecord({
      document: this.file,
      empty: () => [],
      parse: (json) => packages.safeParse(json).data,
      damaged: { record: 'The list of packages', hint: 'Correct the file, or delete it and add the packages again.' },
    })
  }

  /** @throws BridgeError CONFIG_INVALID if the list is damaged */
  list(): Promise<string[]> {
    return this.#record.read()
  }

  /** @throws BridgeError CONFIG_INVALID if the list is damaged or cannot be written */
  async change(change: (words: string[]) => string[]): Promise<void> {
    await this.#record.update((words) => void words.splice(0, words.length, ...change([...words])))
  }
}

/**
 * Reads the list with the settings, which are read at once. A damaged list counts as empty: `problem` says so.
 */
export function readKeptPackages(stateDir: string): { packages: readonly string[]; problem?: string } {
  const file = keptPackagesFile(stateDir)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return { packages: [] }
  }
  const found = packages.safeParse(parseJson(text)).data
  return found
    ? { packages: found }
    : { packages: [], problem: `${file} is damaged and ignored. Delete it, and add the packages again.` }
}

function keptPackagesFile(stateDir: string): string {
  return path.join(stateDir, '.sandbridge', 'packages.json')
}
