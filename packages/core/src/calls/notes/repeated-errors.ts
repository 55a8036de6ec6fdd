// A repeated argument error of a cell, as in a loop that catches it, comes without the
// tool's signature. The next cell gets it again: the model may never have seen an error that code caught.
import { withoutSignature } from '../catalog/arguments/bind.ts'
import type { CatalogTool } from '../catalog/model/catalog-tool.ts'
import { BridgeError } from '../../errors.ts'

/** Per cell. Further errors are always reported in full. */
const MAX_REMEMBERED = 200

/**
 * Returns what `bind` returns.
 * @param seen the errors that the cell has seen
 * @throws what it throws, without the signature when the cell has seen the same error
 */
export async function shortened<T>(seen: Set<string>, tool: CatalogTool, bind: () => Promise<T>): Promise<T> {
  try {
    return await bind()
  } catch (error) {
    if (!BridgeError.isInstance(error) || error.code !== 'PROXY_ARGUMENTS_INVALID') throw error
    const key = `${tool.server}\n${error.message}`
    if (seen.has(key)) throw withoutSignature(error, tool)
    if (seen.size < MAX_REMEMBERED) seen.add(key)
    throw error
  }
}
