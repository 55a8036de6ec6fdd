// What a result says once when another version was installed in the place of the one that runs.
import { readFile, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { fieldsOf, parseJson } from '../../util/json/json.ts'
import { VERSION } from '../../util/version.ts'

export class PackageNews {
  readonly #script: string
  #seen = ''
  #isTold = false

  /** @param script what the client's entry starts */
  constructor(script = '') {
    this.#script = script
  }

  /** The notes for the next result. Never rejects. */
  async next(): Promise<string[]> {
    const version = this.#isTold ? undefined : await this.#installed().catch(() => undefined)
    if (version === undefined || version === VERSION) return []
    this.#isTold = true
    return [
      `Sandbridge ${version} has been installed, and this is still ${VERSION}. Tell the user: restart the client to use it.`,
    ]
  }

  /** Reads nothing as long as the script is the same file. */
  async #installed(): Promise<string | undefined> {
    const { ino, ctimeMs } = await stat(this.#script)
    const seen = `${ino} ${ctimeMs}`
    if (seen === this.#seen) return undefined
    this.#seen = seen
    const folder = path.dirname(path.dirname(await realpath(this.#script)))
    const { name, version } = fieldsOf(parseJson(await readFile(path.join(folder, 'package.json'), 'utf8')))
    return name === 'sandbridge' ? String(version) : undefined
  }
}
