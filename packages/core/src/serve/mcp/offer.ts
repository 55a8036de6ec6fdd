// What a feature offers to a client beside run_python; its code is loaded at its first use.
import type {
  CallToolResult,
  ReadResourceResult,
  Resource,
  Server,
  ServerCapabilities,
  Tool,
} from '@modelcontextprotocol/server'
import type { DirectCall } from '../../bridge/cells/direct-call.ts'
import type { Ability } from '../../calls/questions/questions.ts'
import type { Settings } from '../../config/settings/settings.ts'
import type { Conversation } from './sessions.ts'

export interface OfferedCell {
  code: string
  /** For the reader of the result. */
  note?: string | undefined
}

/** Its texts go to the model. A cell may have written them, so the offer masks them: see `maskerFor`. */
export interface Offer {
  /** Added to those of the server. */
  capabilities: ServerCapabilities
  /** The instructions of the server when these tools replace run_python. */
  inPlaceOfCode?: string
  /** Answers requests of its own, such as `prompts/list`. */
  answer(server: Server): void
  /** @param abilities what its client can be asked: servers that start for the list can ask it */
  tools(abilities: readonly Ability[]): Promise<Tool[]>
  has(tool: string, abilities: readonly Ability[]): boolean | Promise<boolean>
  /** The cell that a call of one of its tools runs, or a call that it is by itself. @throws BridgeError */
  callOf(tool: string, args: Record<string, unknown>, abilities: readonly Ability[]): Promise<OfferedCell | OfferedCall>
  resources?(): Promise<Resource[]>
  /** @returns undefined for a resource that is not one of its own */
  read?(uri: string): Promise<ReadResourceResult | undefined>
}

/** A call without code, and how its reply becomes a result. */
export interface OfferedCall extends DirectCall {
  /** For the reader of the result. */
  note?: string | undefined
  resultOf(reply: unknown): CallToolResult | Promise<CallToolResult>
}

export interface OfferParts {
  settings: Settings
  /** A value of MCP_BRIDGE_TOOLS that the address of the client has, unchecked. */
  tools?: string | undefined
  /** Whether an entry of a server lists tools by themselves; missing while that is not known. */
  hasDirect?: boolean | undefined
  /** The user of the client's token; missing for the owner of the bridge. */
  user?: string | undefined
  /** Loads the bridge at its first call. */
  getConversation: () => Promise<Conversation>
}

/** @returns undefined where the settings ask for nothing of it */
export type MakeOffer = (parts: OfferParts) => Offer | undefined
