// A catalog of two servers with a few tools, for tests.
import { Catalog } from '../../../src/calls/catalog/catalog.ts'
import type { CatalogOptions } from '../../../src/calls/catalog/catalog-options.ts'
import type { ServerDefinition } from '../../../src/config/entries/server-definition.ts'
import { BridgeError } from '../../../src/errors.ts'
import { fileStore } from '../../../src/util/stores/open-stores.ts'
import { createLog } from '../../../src/util/log.ts'
import type { UpstreamTool } from '../../../src/upstream/upstream.ts'
import { newFolder } from '../machine/new-folder.ts'

export const GITHUB: UpstreamTool[] = [
  {
    name: 'create-issue',
    description: 'Create a new issue. Needs a token.',
    inputSchema: {
      type: 'object',
      properties: { title: { type: 'string' }, body: { type: 'string' } },
      required: ['title'],
    },
  },
  {
    name: 'list-issues',
    description: 'List issues',
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
  },
]

export const FILES: UpstreamTool[] = [
  { name: 'read_file', description: 'Read a file', inputSchema: { type: 'object' } },
]

const TOOLS: Record<string, UpstreamTool[]> = { GitHub: GITHUB, files: FILES }

export function definition(name: string, more: Partial<ServerDefinition> = {}): ServerDefinition {
  const transport = { type: 'stdio' as const, command: name, args: [], env: { TOKEN: 'sk-secret' } }
  return { name, transport, source: { client: 'test', file: 'test.json' }, ...more }
}

export async function codeOf(promise: Promise<unknown>): Promise<BridgeError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!BridgeError.isInstance(error)) throw new Error('a BridgeError was expected', { cause: error })
  return error
}

/** Servers that were asked for their tools in the running test. */
export const asked: string[] = []
let folder = ''
let store = fileStore('')

/** For beforeEach: no catalog is kept yet, and no server was asked. */
export function beginCatalogs(): void {
  folder = newFolder()
  store = fileStore(folder)
  asked.length = 0
}

/** A catalog of both servers; catalogs of one test share the books. */
export function catalog(options: Partial<CatalogOptions> = {}): Catalog {
  return new Catalog({
    definitions: [definition('GitHub'), definition('files', { description: 'My files' })],
    listTools: (server) => {
      asked.push(server)
      return Promise.resolve({ tools: TOOLS[server] ?? [] })
    },
    store,
    log: createLog('error'),
    ...options,
  })
}
