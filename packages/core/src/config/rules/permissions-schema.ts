// The schema of rules, in permissions.json and in a server's entry. Unlike elsewhere in an entry, unknown fields are
// errors: an ignored rule would leave something allowed. Pure.
import * as z from 'zod'
import type { Place } from '../formats/json-tree.ts'
import { HINTS, type Rule } from './rule.ts'

export const MAX_RULES = 10_000

let built: ReturnType<typeof build> | undefined

/** Built when the first entry is read. */
export function rulesSchema(): ReturnType<typeof build> {
  return (built ??= build())
}

function build() {
  const most = (what: string, max: number) =>
    z.int().min(1).max(max).optional().describe(`How many of these calls ${what} may make.`)
  const pattern = z.string().min(1).max(512)
  const rule = z.strictObject({
    server: pattern.optional().describe('The name of a server; * stands for any text.'),
    tool: pattern.optional().describe('server__tool, or with `server` the name of a tool; * stands for any text.'),
    annotations: z
      .strictObject(
        Object.fromEntries(HINTS.map((hint) => [hint, z.boolean().optional()])) as Record<
          (typeof HINTS)[number],
          z.ZodOptional<z.ZodBoolean>
        >,
      )
      .optional()
      .describe('Only tools that their server marks so.'),
    when: z.string().min(1).max(4_000).optional().describe('Only calls for which this is true: CEL over `args`.'),
    perCell: most('a cell', 1_000_000),
    perSession: most('a session', 1_000_000),
    perHour: most('all sessions together in an hour', 10_000),
    reason: z.string().min(1).max(500).optional().describe('What a denied call is told.'),
    definition: z.string().max(100).optional().describe('Written by the bridge: only for the server defined so.'),
    insteadOfAsking: z.literal(true).optional().describe('Written by the bridge: the answer "always".'),
    exact: z.literal(true).optional().describe('`server` and `tool` are names: * stands for itself.'),
  })
  const list = (meaning: string) =>
    z
      .array(z.union([z.string().min(1).max(600), rule]))
      .max(MAX_RULES)
      .optional()
      .describe(meaning)
  return z.strictObject({
    allow: list('Calls that are made.'),
    ask: list('Calls that the user is asked about. This wins over allow.'),
    deny: list('Calls that are never made. This wins over ask and allow.'),
  })
}

export type RuleLists = z.infer<ReturnType<typeof build>>
export type RuleEntry = Exclude<NonNullable<RuleLists['allow']>[number], string>

/** The entry for exactly this tool, whatever its name. */
export function ruleFor(server: string, tool: string): RuleEntry {
  return { server, tool, ...(`${server}${tool}`.includes('*') && { exact: true as const }) }
}

/** What is wrong with a value, and the path of keys to it. */
export interface ShapeProblem {
  path: (string | number)[]
  reason: string
}

export interface RuleProblem {
  reason: string
  place?: Place
}

export type ReadRules = { rules: Rule[] } | { problems: RuleProblem[] }
/** A file that has been read. */
export interface RulesOfFile {
  rules: Rule[]
  mask: MaskPattern[]
  trust: TrustedText[]
}

/** A server whose text the user trusts. */
export interface TrustedText {
  server: string
  /** Key of its definition: another server of this name is not trusted. */
  definition: string
}

export interface MaskPattern {
  name: string
  pattern: string
}

/** Parses the rules in the `permissions` of a server's definition. */
export function parseLists(value: unknown): RuleLists | ShapeProblem[] {
  const parsed = rulesSchema().safeParse(value)
  return parsed.success ? parsed.data : parsed.error.issues.flatMap(problemsOf)
}

export function problemsOf(issue: z.core.$ZodIssue): ShapeProblem[] {
  const path = issue.path.filter((key) => typeof key !== 'symbol')
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: [...path, key], reason: `${JSON.stringify(key)} is not known here` }))
  if (issue.code === 'invalid_union') {
    // For a rule that is an object, report the errors inside it.
    const inner = issue.errors.find((errors) =>
      errors.every(({ path: at, code }) => at.length > 0 || code === 'unrecognized_keys'),
    )
    if (inner) return inner.flatMap((one) => problemsOf({ ...one, path: [...issue.path, ...one.path] }))
    return [{ path, reason: 'a rule is a text or an object' }]
  }
  return [{ path, reason: issue.message.replace(/^Invalid input: /, '') }]
}
