// The rules in force, which packages/permissions reads and applies. Pure.
import type { FlowFacts, FlowPreset, FlowReason, WatchedFlows } from './flow.ts'
import type { Hints, Rule, Verdict } from './rule.ts'

/** A tool as rules see it. Reading a resource and getting a prompt count as tools of their server, too. */
export interface Subject {
  server: string
  /** Other names that its entry has or had: what restricts one of them restricts it. */
  otherNames?: readonly string[] | undefined
  tool: string
  /** The annotations as the server lists them. */
  annotations: unknown
  /** Key of the server's definition; see `Rule.definition`. */
  definition: string
  /** The server is defined by a project. */
  isProjects: boolean
  /** The tool differs from its first listing. */
  isChanged?: boolean | undefined
}

export interface Call extends Subject {
  args: Readonly<Record<string, unknown>>
  /** What is known of its session; missing where flows are not followed. */
  flow?: FlowFacts | undefined
  /** The workflow that makes it without a model. */
  workflow?: WatchedFlows | undefined
}

export interface Decision {
  verdict: Verdict
  /** The deciding rule. Without one, the preset or the tool's change decided. */
  rule?: Rule | undefined
  by: 'rule' | 'preset' | 'change' | 'flow' | 'workflow'
  /** Why MCP_BRIDGE_FLOW asks about the call or denies it: it is risky, or its workflow does not declare its flow. */
  flow?: FlowReason
  /** Rules that limit the number of such calls. */
  limits: readonly Rule[]
}

/** What is certain about a tool before its arguments are known. `depends`: a rule with a condition matches it. */
export type ToolAccess = 'allowed' | 'asks' | 'denied' | 'depends'

/** The rules that match a tool, whatever its arguments. */
export interface ToolRules {
  hints: Hints
  byVerdict: Record<Verdict, readonly Rule[]>
  answered: readonly Rule[]
  limiting: readonly Rule[]
}

export interface Policy {
  readonly rules: readonly Rule[]
  readonly preset: Preset
  readonly flow: FlowPreset
  /** Whether flows are followed. */
  readonly followsFlow: boolean
  /** Whether calls may ask or be denied because of their flow. */
  readonly judgesFlow: boolean
  rulesFor(subject: Subject): ToolRules
  /** Whether every call of the tool is denied, whatever its arguments. */
  isDenied(subject: Subject): boolean
  /** What is certain about the tool already. */
  accessOf(subject: Subject): ToolAccess
  /** The rules that match nothing. A rule for a server whose tools are unknown is not reported. */
  unmatched(servers: readonly KnownServer[]): UnmatchedRule[]
}

export interface KnownServer {
  name: string
  otherNames?: readonly string[] | undefined
  /** Undefined when the tools were never listed. */
  tools: readonly string[] | undefined
}

/** A restriction that matches nothing, and the sentence that says so, with suggestions. */
export interface UnmatchedRule {
  verdict: Verdict
  message: string
  /** The known servers that it names. */
  about: readonly string[]
  /** It names no server that is there, nor anything like one. */
  isWaiting: boolean
}

/** `open` allows all, `careful` asks about calls that are not read-only, `readonly` denies them. */
export const PRESETS = ['open', 'careful', 'readonly'] as const
export type Preset = (typeof PRESETS)[number]
