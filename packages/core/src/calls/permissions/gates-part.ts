// The gate between a cell and the servers, where there are rules, as far as the core knows it.
import type { FlowFacts, WatchedFlows } from '../../config/rules/flow.ts'
import type { Call, Policy } from '../../config/rules/policy.ts'
import type { UserRules } from '../../config/permission-files.ts'
import type { BridgeError } from '../../errors.ts'
import type { EventStream } from '../../observe/events/event-stream.ts'
import type { Allowed, CallFlow, Origin } from '../../observe/events/event.ts'
import { Part } from '../../util/part.ts'
import type { CatalogTool } from '../catalog/model/catalog-tool.ts'
import type { SessionFlow } from '../flow-part.ts'
import type { Asker } from '../questions/questions.ts'
import type { Hold } from './answer-page.ts'
import type { Permissions } from './permissions.ts'

/** Without it, no code runs where there are rules. */
export const gates = new Part<GatesPart>('judging calls by rules')

interface GatesPart {
  /** @param policy the rules at the cell's start; later ones replace it, but an end of all rules does not */
  gateOf: (permissions: Permissions, cell: CellOf, policy: Policy) => CellGate
  /** @throws BridgeError PERMISSION_DENIED where the rules deny a call */
  refuseDenied: (policy: Policy, call: Call) => void
  /**
   * @param shown the page, with all that it shows
   * @param author the server whose page it is; missing for a page of a cell
   * @throws BridgeError PERMISSION_DENIED where rules about flows deny such a call, or ask about it
   */
  refuseApp: (policy: Policy, shown: string, flow: FlowFacts, author?: string) => void
}

/** The cell whose calls are judged. */
export interface CellOf {
  session: object
  /** The rules of its user's own folder. */
  userRules?: UserRules | undefined
  asker: Asker | undefined
  /** For an unattended cell: the tools that may be called although a rule asks. */
  allowed?: readonly { server: string; tool: string }[] | undefined
  events: EventStream
  /** Of its result, a sentence each. */
  notes?: Set<string>
  origin: Origin
  /** What its session's values came from; missing where flows are not followed. */
  flow?: SessionFlow | undefined
  /** The workflow that the cell runs without a model. */
  workflow?: WatchedFlows | undefined
  /** Whether a question that the client cannot ask is stored, to be answered elsewhere before the code runs again. */
  keepsQuestions: boolean
  /** For a cell of the page, which shows the question: waits for the answer with the cell's time limit paused. */
  hold?: Hold | undefined
  /** Interrupts the cell, when the user chooses to stop it. */
  stop: () => void
}

type Arguments = Record<string, unknown>

/** A call whose signal is made on demand: making it takes as long as judging the call. */
export interface Cancellable {
  readonly signal: AbortSignal
}

/** An allowed call: its arguments, what allowed it, and its event id if events exist already. */
export interface Admitted {
  args: Arguments
  allowed: Allowed
  id?: string
  /** Where the arguments came from. */
  flow?: CallFlow | undefined
}

/** A call found in a cell's source. Without `args`, not all arguments are known. */
export interface SeenToolCall {
  tool: CatalogTool
  args: Arguments | undefined
  /** It is made whenever the cell runs: the user is asked about others when they are made. */
  isMade: boolean
}

/** The rules as they are for one cell. */
export interface CellGate {
  /** Refreshes the tools that rules are applied to, unless the preset is open. @returns undefined if nothing waits */
  ready(server: string, call: Cancellable): Promise<void> | undefined
  /** @throws BridgeError PERMISSION_DENIED once the user has stopped the code */
  refuseStopped(): void
  /**
   * @param args of one call; missing: only a tool whose every call is denied is refused
   * @throws BridgeError PERMISSION_DENIED, before anything else about the tool is revealed
   */
  refuseDenied(tool: CatalogTool, args?: Arguments): void
  /**
   * Returns the arguments to send: exactly those that were judged, and shown if the user was asked.
   * @throws BridgeError PERMISSION_DENIED, or CANCELLED when the call was cancelled while the user was asked
   */
  admit(tool: CatalogTool, given: Arguments, call: Cancellable): Promise<Admitted>
  /**
   * The same call again, which its server has refused until the user signs in or opens a page: it is neither counted
   * nor asked about a second time, unless the model has read more meanwhile.
   * @throws BridgeError PERMISSION_DENIED when the rules deny it by now
   */
  admitAgain(tool: CatalogTool, admitted: Admitted, call: Cancellable): Promise<Admitted>
  /**
   * Judges the calls found in a cell before it runs, and asks about all of them at once.
   * @returns the refusal of each call that will certainly not be made
   */
  foresee(calls: readonly SeenToolCall[], signal: AbortSignal): Promise<(BridgeError | undefined)[]>
}
