// `npm run schema`: writes schema/servers.schema.json, the JSON Schema of the files that define servers, from src/config/entry-schema.ts.
import { mkdirSync, writeFileSync } from 'node:fs'
import { tsImport } from 'tsx/esm/api'

const { serversJsonSchema } = await tsImport('../src/config/entry-schema.ts', import.meta.url)
const file = new URL('../schema/servers.schema.json', import.meta.url)
mkdirSync(new URL('.', file), { recursive: true })
writeFileSync(file, `${JSON.stringify(serversJsonSchema(), undefined, 2)}\n`)
