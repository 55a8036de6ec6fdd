// A parsed rule: which calls it matches, and its verdict. Pure.
import type { FlowFacts } from './flow.ts'
import type { Target } from './target.ts'

/** The verdicts, strictest first: deny beats ask beats allow. */
export const VERDICTS = ['deny', 'ask', 'allow'] as const
export type Verdict = (typeof VERDICTS)[number]

/** A tool's annotations (MCP 2025-11-25, Tools, ToolAnnotations). */
export const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const
export type Hints = Record<(typeof HINTS)[number], boolean>

/** The variables of a condition. */
export interface Facts {
  server: string
  tool: string
  args: Readonly<Record<string, unknown>>
  annotations: Hints
  /** What `from` and `seen` stand for; missing where flows are not followed. */
  flow?: FlowFacts | undefined
}

export interface Condition {
  text: string
  /** It names `from` or `seen`. */
  usesFlow: boolean
  /** Undefined when it cannot be evaluated: an argument is missing or of another type, or too large for a loop. */
  holds(facts: Facts): boolean | undefined
}

/** Where a rule comes from. Rules of a project and of its servers can only make things stricter. */
export interface Origin {
  scope: 'user' | 'project'
  file: string
  /** The file's name in errors: a cell must not learn the full path. */
  shown: string
  /** Set for a rule in a server's definition: it applies to this server alone. */
  server?: string
}

export interface Limits {
  perCell?: number
  perSession?: number
  perHour?: number
}

export interface Rule {
  verdict: Verdict
  /** As written in its file. */
  text: string
  origin: Origin
  /** Line in the file; missing for a rule of a server's entry. */
  line?: number
  target: Target
  annotations: Partial<Hints>
  condition?: Condition
  limits?: Limits
  /** The calls that are limited: a limit restricts, so that other spellings count even in a rule that allows. */
  limited?: Target
  reason?: string
  /** Matches only a server with this definition, whatever its name. */
  definition?: string
  /** The user answered "always": this rule takes precedence over rules that ask. */
  insteadOfAsking: boolean
}

/** `deny "github__delete_*" (permissions.json, line 4)`: the name of a rule in errors and lists. */
export function ruleName({ verdict, text, origin, line }: Rule): string {
  const at = line === undefined ? '' : `, line ${line}`
  return `${verdict} ${text} (${origin.shown}${at})`
}

/** What a rule's author says, for errors and questions; quoted, as no one may take it for the bridge's words. */
export function ruleReason({ reason, origin }: Rule): string | undefined {
  if (reason === undefined || origin.scope === 'user') return reason
  return `Its file says: ${JSON.stringify(reason)}`
}
