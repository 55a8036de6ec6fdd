// Remembers the argument errors that a session has read. One that comes again, as in a loop that catches it, comes without the tool's signature.
import { withoutSignature } from '../catalog/calls/bind.ts'
import type { CatalogTool } from '../catalog/model/catalog-tool.ts'
import { BridgeError } from '../errors.ts'
import type { Session } from '../session/session.ts'

/** Of one session. Later ones are told in full each time. */
const MAX_REMEMBERED = 200

export class RepeatedErrors {
  readonly #told = new WeakMap<Session, Set<string>>()

  /** What `bind` returns. @throws what it throws, shorter where the session has read the very same */
  async shortened<T>(session: Session, tool: CatalogTool, bind: () => Promise<T>): Promise<T> {
    try {
      return await bind()
    } catch (error) {
      if (!BridgeError.isInstance(error) || error.code !== 'PROXY_ARGUMENTS_INVALID') throw error
      const told = this.#told.get(session) ?? new Set()
      this.#told.set(session, told)
      const key = `${tool.server}\n${error.message}`
      if (told.has(key)) throw withoutSignature(error, tool)
      if (told.size < MAX_REMEMBERED) told.add(key)
      throw error
    }
  }
}
