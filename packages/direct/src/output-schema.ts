// The schema of a tool's results, as a client can be told it. Many clients compile every schema of a list, and refuse
// the whole list for one that they cannot: the tools of all servers.
import * as z from 'zod'
import { lookUp } from '@sandbridge/core/calls/catalog'
import { isRecord } from '@sandbridge/core/util/json/json.ts'

const type = z.enum(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])
const schema: z.ZodType = z.lazy(() => z.union([z.boolean(), fields]))
const some = z.array(schema).min(1).optional()
const byName = z.record(z.string(), schema).optional()
const number = z.number().optional()
const pattern = z.string().refine((text) => {
  try {
    return Boolean(new RegExp(text, 'u'))
  } catch {
    return false
  }
})
const each = <One>(names: string, one: One): Record<string, One> =>
  Object.fromEntries(names.split(' ').map((name) => [name, one]))
const fields = z
  .looseObject({
    // Two servers may have the same.
    $id: z.undefined().optional(),
    type: z.union([type, z.array(type).min(1)]).optional(),
    enum: z.array(z.unknown()).min(1).optional(),
    required: z.array(z.string()).optional(),
    pattern: pattern.optional(),
    patternProperties: z.record(pattern, schema).optional(),
    items: z.union([schema, z.array(schema)]).optional(),
    uniqueItems: z.boolean().optional(),
    ...each('properties $defs definitions dependentSchemas', byName),
    ...each('anyOf oneOf allOf prefixItems', some),
    ...each('not additionalProperties contains propertyNames if then else', schema.optional()),
    ...each('minimum maximum exclusiveMinimum exclusiveMaximum multipleOf', number),
    ...each('minLength maxLength minItems maxItems minProperties maxProperties', number),
  })
  .refine((one) => one['nullable'] === undefined || one['type'] !== undefined)

const REF = /"\$(?:dynamicRef|recursiveRef|ref)":"((?:[^"\\]|\\.)*)"/g

/** Undefined for one that is none of an object, or that clients cannot compile. */
export function toldSchema(given: unknown): Record<string, unknown> | undefined {
  if (!isRecord(given) || given['type'] !== 'object') return undefined
  try {
    const refs = [...JSON.stringify(given).matchAll(REF)].map(([, ref]) => ref!)
    const isWhole = refs.every((ref) => decodeURI(ref) && isRecord(lookUp(ref, given)))
    return isWhole && fields.safeParse(given).success ? given : undefined
  } catch {
    // It is nested too deeply, or a reference cannot be decoded.
    return undefined
  }
}
