// `npm run schema`: writes the JSON Schemas of config files: schema/servers.schema.json from
// src/config/entries/entry-schema.ts, and schema/permissions.schema.json from src/config/rules/permissions-schema.ts.
import { mkdirSync, writeFileSync } from 'node:fs'
import { tsImport } from 'tsx/esm/api'

const { serversJsonSchema } = await tsImport('../src/config/entries/entry-schema.ts', import.meta.url)
const { permissionsJsonSchema } = await tsImport('../src/config/rules/permissions-schema.ts', import.meta.url)
mkdirSync(new URL('../schema/', import.meta.url), { recursive: true })
for (const [name, schema] of [
  ['servers', serversJsonSchema()],
  ['permissions', permissionsJsonSchema()],
]) {
  const file = new URL(`../schema/${name}.schema.json`, import.meta.url)
  writeFileSync(file, `${JSON.stringify(schema, undefined, 2)}\n`)
}
