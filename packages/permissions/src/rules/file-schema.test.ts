// This file verifies that the checked-in schema matches the one that files are checked against.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { permissionsJsonSchema } from './file-schema.ts'
import { readRules } from './read-rules.ts'

const read = (file: string): string => readFileSync(new URL(`../../../../${file}`, import.meta.url), 'utf8')
const checkedIn: unknown = JSON.parse(read('schema/permissions.schema.json'))

it('the JSON Schema of permissions is the one that `npm run schema` makes', () => {
  expect(JSON.parse(JSON.stringify(permissionsJsonSchema()))).toEqual(checkedIn)
})

it('the JSON Schema of permissions accepts the file of docs/permissions.md, as the bridge does', async () => {
  const [, text = ''] = /```json\n([^]*?)```/.exec(read('docs/permissions.md')) ?? []
  const schema = z.fromJSONSchema(checkedIn as Parameters<typeof z.fromJSONSchema>[0])
  expect(schema.safeParse(JSON.parse(text)).error).toBeUndefined()
  expect(await readRules(text, { scope: 'user', file: 'f', shown: 'f' })).toHaveProperty('rules')
  expect(schema.safeParse({ permissions: { denny: [] } }).success).toBe(false)
})
