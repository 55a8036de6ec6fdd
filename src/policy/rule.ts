// What a rule is, once it was read: which calls it is for, and what becomes of them. Pure.
import type { Condition } from './condition.ts'
import type { Target } from './target.ts'

/** What becomes of a call, the strictest first: deny beats ask beats allow. */
export const VERDICTS = ['deny', 'ask', 'allow'] as const
export type Verdict = (typeof VERDICTS)[number]

/** What servers say of their tools (MCP 2025-11-25, Tools, ToolAnnotations). */
export const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const
export type Hints = Record<(typeof HINTS)[number], boolean>

/** A rule as a file holds it. */
export interface RuleEntry {
  server?: string | undefined
  tool?: string | undefined
  when?: string | undefined
  annotations?: Partial<Record<keyof Hints, boolean | undefined>> | undefined
  perCell?: number | undefined
  perSession?: number | undefined
  perHour?: number | undefined
  reason?: string | undefined
  definition?: string | undefined
  insteadOfAsking?: boolean | undefined
}

/** The lists of a file. */
export type RuleLists = Partial<Record<Verdict, (string | RuleEntry)[] | undefined>>

/** Who wrote a rule, which decides how far it reaches. A project's rules and those of its servers only make things stricter. */
export interface Origin {
  scope: 'user' | 'project'
  file: string
  /** The file as errors name it: a cell need not learn where it lies. */
  shown: string
  /** Set for the rules in a server's own definition: they are for this server alone. */
  server?: string
}

export interface Limits {
  perCell?: number
  perSession?: number
  perHour?: number
}

export interface Rule {
  verdict: Verdict
  /** As it stands in its file. */
  text: string
  origin: Origin
  /** Where in the file; missing for a server's definition. */
  line?: number
  target: Target
  annotations: Partial<Hints>
  condition?: Condition
  limits?: Limits
  reason?: string
  /** Only for the server with this definition, whatever it is called. */
  definition?: string
  /** The user's answer "always": it comes before rules that ask. */
  insteadOfAsking: boolean
}

/** `deny "github__delete_*" (permissions.json, line 4)`, as errors and lists name a rule. */
export function ruleName({ verdict, text, origin, line }: Rule): string {
  const at = line === undefined ? '' : `, line ${line}`
  return `${verdict} ${text} (${origin.shown}${at})`
}
