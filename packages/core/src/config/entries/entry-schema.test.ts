import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { serversJsonSchema } from './entry-schema.ts'
import { toServerBody } from './server-entry.ts'

const root = fileURLToPath(new URL('../../../../../', import.meta.url))
const read = (file: string): string => readFileSync(root + file, 'utf8')

describe('schema/servers.schema.json', () => {
  const checkedIn: unknown = JSON.parse(read('schema/servers.schema.json'))
  const schema = z.fromJSONSchema(checkedIn as Parameters<typeof z.fromJSONSchema>[0])
  const accepts = (entry: unknown): boolean => schema.safeParse({ mcpServers: { a: entry } }).success

  it('the JSON Schema of server files is what `npm run schema` makes', () => {
    expect(JSON.parse(JSON.stringify(serversJsonSchema()))).toEqual(checkedIn)
  })

  it('the JSON Schema of server files is part of the package', () => {
    expect((JSON.parse(read('package.json')) as { files: string[] }).files).toContain('schema')
  })

  it('the JSON Schema of server files accepts the files of docs/configuration.md and docs/sign-in.md', () => {
    const files = [
      ...(read('docs/configuration.md') + read('docs/sign-in.md')).matchAll(/```json\n([^]*?)```/g),
    ].flatMap(([, text = '']) => (text.includes('"mcpServers"') ? [JSON.parse(text) as unknown] : []))
    expect(files.length).toBeGreaterThan(1)
    for (const file of files) expect(schema.safeParse(file).error).toBeUndefined()
  })

  it.each([
    [{ command: 'x', args: ['a', 1, true], env: { A: 'b', B: 1, C: null }, cwd: null }],
    [{ type: 'stdio', command: 'x', startTimeoutMs: 1, includeTools: ['*'] }],
    [{ url: 'https://s.example', headers: { A: 'b' }, oauth: { clientId: 'a', scopes: ['x'], callbackPort: '80' } }],
    [{ url: 'https://s.example', oauth: { grant: 'client_credentials', clientId: 'a', clientSecret: 'b' } }],
    [{ type: 'sse', url: '${URL}', of: 'another client' }],
  ])('the JSON Schema of server files accepts an entry that the bridge accepts: %j', (entry) => {
    expect(toServerBody(entry)).toHaveProperty('body')
    expect(accepts(entry)).toBe(true)
  })

  it.each([
    [{}],
    [{ command: 7 }],
    [{ command: 'x', args: 'a' }],
    [{ command: 'x', env: { A: [] } }],
    [{ command: 'x', callTimeoutMs: 0 }],
    [{ url: 7 }],
    [{ url: 'https://s.example', headers: { A: {} } }],
    [{ type: 'carrier-pigeon', url: 'https://s.example' }],
  ])('the JSON Schema of server files refuses an entry that the bridge refuses: %j', (entry) => {
    expect(toServerBody(entry)).toHaveProperty('reason')
    expect(accepts(entry)).toBe(false)
  })
})
