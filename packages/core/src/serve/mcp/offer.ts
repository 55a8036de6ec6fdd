// What a feature offers to a client beside run_python. Made once for each server; the code behind it is loaded at its
// first use.
import type { ReadResourceResult, Resource, Server, ServerCapabilities, Tool } from '@modelcontextprotocol/server'
import type { Bridge } from '../../bridge/bridge.ts'
import type { Settings } from '../../config/settings/settings.ts'
import type { Sessions } from './sessions.ts'

/** Its texts go to the model. A cell may have written them, so the offer masks them: see `maskerFor`. */
export interface Offer {
  /** Added to those of the server. */
  capabilities: ServerCapabilities
  /** Answers requests of its own, such as `prompts/list`. */
  answer(server: Server): void
  tools(): Promise<Tool[]>
  has(tool: string): boolean
  /** The code of the cell that a call of one of its tools runs. @throws BridgeError */
  cellOf(tool: string, args: unknown): Promise<string>
  resources(): Promise<Resource[]>
  /** @returns undefined for a resource that is not one of its own */
  read(uri: string): Promise<ReadResourceResult | undefined>
}

export interface OfferParts {
  settings: Settings
  /** The user of the client's token; missing for the owner of the bridge. */
  user?: string | undefined
  /** Loads the bridge at its first call. */
  getConversation: () => Promise<{ bridge: Bridge; sessions: Sessions }>
}

/** @returns undefined where the settings ask for nothing of it */
export type MakeOffer = (parts: OfferParts) => Offer | undefined
