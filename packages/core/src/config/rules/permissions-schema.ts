// The schema of permissions.json: files are checked against it, and schema/permissions.schema.json is generated from
// it. Unlike in a server's entry, unknown fields are errors: an ignored rule would leave something allowed. Pure.
import * as z from 'zod'
import type { Place } from '../formats/json-tree.ts'
import { HINTS, type Rule, type RuleLists } from './rule.ts'

const MAX_RULES = 10_000

let built: ReturnType<typeof build> | undefined

/** Built when the first file is read. */
export function permissionsSchemas(): ReturnType<typeof build> {
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
  const permissions = z.strictObject({
    allow: list('Calls that are made.'),
    ask: list('Calls that the user is asked about. This wins over allow.'),
    deny: list('Calls that are never made. This wins over ask and allow.'),
  })
  const maskPattern = z.strictObject({
    name: z.string().max(32).describe('What tokens are called: letters, digits and _.'),
    pattern: z.string().max(500).describe('A regular expression with bounded repetitions.'),
  })
  const trustedText = z.strictObject({
    server: z.string().min(1).max(512).describe('The name of a server.'),
    definition: z.string().max(100).describe('Only the server that is defined so.'),
  })
  const file = z.strictObject({
    $schema: z.string().optional(),
    permissions: permissions.optional(),
    trust: z
      .array(trustedText)
      .max(MAX_RULES)
      .optional()
      .describe(
        'Written by the bridge: servers whose output you trust, so that it triggers no questions of flow rules.',
      ),
    mask: z
      .array(maskPattern)
      .max(50)
      .optional()
      .describe('Your own kinds of personal data, which the model gets as placeholders.'),
  })
  return { file, permissions }
}

/** The JSON Schema of permissions.json, for completion and checks in editors. */
export function permissionsJsonSchema(): object {
  const schema = z.toJSONSchema(permissionsSchemas().file, { io: 'input', target: 'draft-7' })
  return { title: 'Permissions for Sandbridge', ...schema }
}

/** What is wrong with a value, and the path of keys to it. */
export interface ShapeProblem {
  path: (string | number)[]
  reason: string
}

interface PermissionsContent {
  lists: RuleLists
  mask: MaskPattern[]
  trust: TrustedText[]
}

export interface RuleProblem {
  reason: string
  place?: Place
}

export type ReadRules = { rules: Rule[] } | { problems: RuleProblem[] }
/** A file that has been read. */
export type RulesOfFile = { rules: Rule[] } & Pick<PermissionsContent, 'mask' | 'trust'>

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

export function parseFile(value: unknown): PermissionsContent | ShapeProblem[] {
  const parsed = permissionsSchemas().file.safeParse(value)
  if (!parsed.success) return parsed.error.issues.flatMap(problemsOf)
  const { permissions, mask, trust } = parsed.data
  return { lists: permissions ?? {}, mask: mask ?? [], trust: trust ?? [] }
}

/** Parses the rules in the `permissions` of a server's definition. */
export function parseLists(value: unknown): RuleLists | ShapeProblem[] {
  const parsed = permissionsSchemas().permissions.safeParse(value)
  return parsed.success ? parsed.data : parsed.error.issues.flatMap(problemsOf)
}

function problemsOf(issue: z.core.$ZodIssue): ShapeProblem[] {
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
