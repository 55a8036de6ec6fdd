// What the tests of upstreams share: definitions of the fixture servers, and upstreams that end with their test.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { ServerDefinition } from '../../src/config/server-definition.ts'
import { createLog } from '../../src/log.ts'
import { createUpstreams, type UpstreamsOptions } from '../../src/upstream/create-upstreams.ts'
import type { Upstreams } from '../../src/upstream/upstream.ts'

const SERVERS = join(import.meta.dirname, '../fixtures/servers')
const SOURCE = { client: 'test', file: 'test.json' }

/** A definition of test/fixtures/servers/raw.mjs in one of its modes, named after the mode. */
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

export interface TestUpstreams extends Upstreams {
  /** Everything logged so far. */
  logged: string[]
}

export function open(
  definitions: ServerDefinition[],
  options: Partial<Omit<UpstreamsOptions, 'definitions'>> = {},
): TestUpstreams {
  const logged: string[] = []
  const upstreams = createUpstreams({
    definitions,
    log: createLog('debug', (line) => void logged.push(line)),
    clientInfo: { name: 'test', version: '1' },
    ...options,
  })
  onTestFinished(() => upstreams.close())
  return Object.assign(upstreams, { logged })
}

/** The text of a result's first block. */
export function textOf(result: { content?: unknown[] }): string {
  return ((result.content ?? [])[0] as { text: string }).text
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Waits for something that is certain to happen; the test's own timeout is the limit. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20))
}
