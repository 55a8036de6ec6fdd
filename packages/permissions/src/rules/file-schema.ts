// The schema of permissions.json: files are checked against it, and schema/permissions.schema.json is generated from
// it. Pure.
import * as z from 'zod'
import { MAX_RULES, problemsOf, type RuleLists, type RulesOfFile, rulesSchema } from '@sandbridge/core/config/rules'
import type { ShapeProblem } from '@sandbridge/core/config/rules'

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
  permissions: rulesSchema().optional(),
  trust: z
    .array(trustedText)
    .max(MAX_RULES)
    .optional()
    .describe('Written by the bridge: servers whose output you trust, so that it triggers no questions of flow rules.'),
  mask: z
    .array(maskPattern)
    .max(50)
    .optional()
    .describe('Your own kinds of personal data, which the model gets as placeholders.'),
})

/** The JSON Schema of permissions.json, for completion and checks in editors. */
export function permissionsJsonSchema(): object {
  const schema = z.toJSONSchema(file, { io: 'input', target: 'draft-7' })
  return { title: 'Permissions for Sandbridge', ...schema }
}

export function parseFile(
  value: unknown,
): (Pick<RulesOfFile, 'mask' | 'trust'> & { lists: RuleLists }) | ShapeProblem[] {
  const parsed = file.safeParse(value)
  if (!parsed.success) return parsed.error.issues.flatMap(problemsOf)
  const { permissions, mask, trust } = parsed.data
  return { lists: permissions ?? {}, mask: mask ?? [], trust: trust ?? [] }
}
