// A catalog of tools that no server has.
import { forgetfulStore } from '@sandbridge/core/test/support/servers/forgetful-store.ts'
import { Catalog } from '../packages/core/src/calls/catalog/catalog.ts'
import type { UpstreamTool } from '../packages/core/src/upstream/upstream.ts'
import { createLog } from '../packages/core/src/util/log.ts'

export function catalogOf(tools: Map<string, UpstreamTool[]>): Catalog {
  return new Catalog({
    definitions: [...tools.keys()].map((name) => ({
      name,
      transport: { type: 'stdio', command: name, args: [], env: {} },
      source: { client: 'bench', file: 'bench' },
    })),
    listTools: (server) => Promise.resolve({ tools: tools.get(server) ?? [] }),
    store: forgetfulStore(),
    log: createLog('error'),
  })
}
