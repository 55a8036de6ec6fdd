// Remembers the argument errors that a cell has seen. A repeated one, as in a loop that catches it, comes without the
// tool's signature. The next cell gets it again: the model may never have seen an error that code caught.
import { withoutSignature } from '../catalog/arguments/bind.ts'
import type { CatalogTool } from '../catalog/model/catalog-tool.ts'
import { BridgeError } from '../../errors.ts'

/** Per cell. Further errors are always reported in full. */
const MAX_REMEMBERED = 200

export class RepeatedErrors {
  /** By the notes of a cell, which are its own. */
  readonly #told = new WeakMap<Set<string>, Set<string>>()

  /**
   * Returns what `bind` returns.
   * @throws what it throws, without the signature when the cell has seen the same error
   */
  async shortened<T>(cellNotes: Set<string>, tool: CatalogTool, bind: () => Promise<T>): Promise<T> {
    try {
      return await bind()
    } catch (error) {
      if (!BridgeError.isInstance(error) || error.code !== 'PROXY_ARGUMENTS_INVALID') throw error
      const told = this.#told.get(cellNotes) ?? new Set()
      this.#told.set(cellNotes, told)
      const key = `${tool.server}\n${error.message}`
      if (told.has(key)) throw withoutSignature(error, tool)
      if (told.size < MAX_REMEMBERED) told.add(key)
      throw error
    }
  }
}
