// Flows: which servers the values of a call came from, and whose text the model has read. Pure.

/** `record` only records flows, `ask` asks about calls that they make risky, `deny` denies these. */
export const FLOW_PRESETS = ['off', 'record', 'ask', 'deny'] as const
export type FlowPreset = (typeof FLOW_PRESETS)[number]

export interface ValueOrigin {
  servers: readonly string[]
  /** What returned it: `mail.read_email`. */
  names: readonly string[]
  /** Servers that have each said all of it. */
  toldBy: readonly string[]
  /** A literal of the model has a part of it. */
  isModels: boolean
  /** The origin of a part is unknown. */
  isUnknown: boolean
  /** The servers that may then have said it, without evidence. */
  guessed: readonly string[]
}

/** What is known about the session of a call. */
export interface FlowFacts {
  /** The servers without trust whose text the model has read. */
  seen: readonly string[]
  /** @param isExact short values count, too, such as an id of one digit */
  originOf(value: unknown, isExact?: boolean): ValueOrigin
  /** Whether the model's code or the documentation that it was told has this word, as they have names of arguments. */
  isKnownWord(word: string): boolean
  /** Whether the user trusts the text of a server. */
  isTrusted(server: string): boolean
}

export interface FlowReason {
  /** Values that say where or to whom the call goes, or what it is about, and what returned them. */
  values: readonly { path: string; value: string; names: readonly string[] }[]
  /** Servers of all these values. */
  from: readonly string[]
  /** The servers that any of the arguments came from. */
  all: readonly string[]
  /** The servers whose text the model has read. */
  seen: readonly string[]
}

/** A workflow declares that values of one server go into an argument of a tool. */
export interface DeclaredFlow {
  from: string
  server: string
  tool: string
  argument: string
}

/** A workflow that runs without a model, and its flows. */
export interface WatchedFlows {
  /** `weekly-report` */
  title: string
  source: string
  /** Calls with other flows are denied. Missing: any flow is judged as elsewhere. */
  declared: readonly DeclaredFlow[] | undefined
  /** Receives the flows of the calls that are made. */
  taken: DeclaredFlow[]
}
