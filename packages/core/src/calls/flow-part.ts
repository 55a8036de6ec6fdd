// Where the values of a session come from, as far as the core knows it: rules about flows need it.
import type { FlowFacts } from '../config/rules/flow.ts'
import type { Content, KeptOrigins } from '../util/stores/kept-origins.ts'
import type { CallFlow } from '../observe/events/event.ts'
import { Part } from '../util/part.ts'

export const flow = new Part<FlowPart>('tracking where values come from')

interface FlowPart {
  /** @param kept where what the sessions keep came from @param seen servers whose text its model has read, ever */
  SessionFlow: new (servers: FlowServers, kept: KeptOrigins, seen?: Set<string>) => SessionFlow
}

export interface FlowServers {
  /** Whether the user trusts the text of a server. */
  isTrusted(server: string): boolean
  /** Tells a server from another one that had its name; undefined for what is no server. */
  identityOf(server: string): string | undefined
}

/** A server's result: which tool, resource or prompt gave it. */
export interface Source {
  server: string
  name: string
}

export interface ShownContent {
  text: string
  hasMedia: boolean
}

/** What is known of one session: where its values come from, and whose text its model has read. For rules, too. */
export interface SessionFlow extends FlowFacts {
  /** The model wrote this code. @param isShell all of it can be data */
  wrote(code: string, isShell?: boolean): void
  /** The bridge told the cell this, such as documentation of tools. */
  told(value: unknown): void
  /** A server returned this, as a result or an error. */
  returned(source: Source, value: unknown): void
  /** A server was sent this. If the user trusts it, it may give back text of others that is in no index yet. */
  sent(server: string, args: Readonly<Record<string, unknown>>): void
  /** Its variables are those of an earlier bridge: nobody knows what is in them, or what its model has read. */
  resumed(): void
  /** The cell keeps this beyond its session. @param names what it calls it, and notes about it */
  keeps(content: Content, ...names: readonly string[]): Promise<void>
  /**
   * The cell reads what sessions kept.
   * @param place what holds it, which stands for an unknown origin
   * @param how.sha256 of the whole, of which `content` is a piece
   * @param how.isCode its literals are the model's, unless servers had a part in it
   */
  opens(place: string, contents: readonly Content[], how?: { sha256?: string; isCode?: boolean }): Promise<void>
  /** The cell reads names of what sessions keep, or notes about it. One that is not listed says nothing. */
  lists(place: string, names: readonly string[]): Promise<void>
  shown(content: ShownContent): void
  /** The model is shown text of this server that is in no index. */
  saw(server: string): void
  /** What is recorded of a call. */
  ofCall(args: Readonly<Record<string, unknown>>): CallFlow
}
