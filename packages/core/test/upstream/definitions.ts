// Definitions of servers for tests of upstreams. Independent of the test runner, for programs that tests start.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { ServerDefinition } from '../../src/config/entries/server-definition.ts'

const SERVERS = join(import.meta.dirname, '../fixtures/servers')
const SOURCE = { client: 'test', file: 'test.json' }

/** A definition of packages/core/test/fixtures/servers/raw.mjs in one of its modes, named after the mode. */
export function raw(mode: string, ...args: string[]): ServerDefinition {
  return program(mode, join(SERVERS, 'raw.mjs'), mode, ...args)
}

export function program(name: string, file: string, ...args: string[]): ServerDefinition {
  return {
    name,
    transport: { type: 'stdio', command: process.execPath, args: [file, ...args], env: {} },
    source: SOURCE,
  }
}

/** A definition of one of the published reference servers. */
export function published(name: string, ...args: string[]): ServerDefinition {
  const require = createRequire(import.meta.url)
  return program(name, require.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`), ...args)
}

/** The text of a result's first block. */
export function textOf(result: { content?: unknown[] }): string {
  return ((result.content ?? [])[0] as { text: string }).text
}
