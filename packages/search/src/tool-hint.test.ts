import { forgetfulStore } from '@sandbridge/core/test/support/servers/forgetful-store.ts'
import { createLog } from '@sandbridge/core/util'
import { expect, it } from 'vitest'
import { Catalog } from '../../core/src/calls/catalog/catalog.ts'
import type { ServerDefinition } from '@sandbridge/core/config/entries'
import type { UpstreamTool } from '@sandbridge/core/upstream'
import { withToolHint } from './tool-hint.ts'

const tool = (name: string, description: string, ...parameters: string[]): UpstreamTool => ({
  name,
  description,
  inputSchema: { type: 'object', properties: Object.fromEntries(parameters.map((one) => [one, { type: 'string' }])) },
})
const FETCH = [tool('fetch', 'Fetches a URL from the internet.', 'url')]
const FILES = [
  tool('read_text_file', 'Read a file from the file system.', 'path'),
  tool('write_note', 'Write a note.', 'text'),
]
const LINKS = [
  tool('does_link', 'Does a page link to another?', 'url', 'target'),
  tool('create_page', 'Create a page in the wiki.', 'title'),
]
const GITHUB = [tool('search_code', 'Search code.', 'query')]

async function hint(servers: Record<string, UpstreamTool[]>, search: string): Promise<string> {
  const names = Object.keys(servers)
  const definitions = names.map((name): ServerDefinition => ({
    name,
    transport: { type: 'stdio', command: name, args: [], env: {} },
    source: { client: 'test', file: 'test.json' },
  }))
  const catalog = new Catalog({
    definitions,
    listTools: (name) => Promise.resolve({ tools: servers[name]! }),
    store: forgetfulStore(),
    log: createLog('error'),
  })
  const failed = { name: 'OSError', message: '', traceback: '', hint: 'The sandbox has no network.', search }
  const { hint: told } = await withToolHint(failed, (...asked) => catalog.search(...asked), names)
  await catalog.close()
  return told!
}

it('a hint names a tool that does what the sandbox cannot', async () => {
  const all = { links: LINKS, fetch: FETCH, files: FILES }
  expect(await hint(all, 'fetch web page url example')).toMatch(
    /Tools that may do it:\n {2}await mcp_fetch\.fetch\(.*$/,
  )
  expect(await hint(all, 'read file from file system')).toMatch(/may do it:\n {2}await mcp_files\.read_text_file\(.*$/)
})

it('a hint names a tool of the server whose name is that of the host', async () => {
  expect(await hint({ github: GITHUB, links: LINKS }, 'fetch web page url github')).toMatch(
    /await mcp_github\.search_code/,
  )
})

it('a hint names no tool when none fits', async () => {
  expect(await hint({ links: LINKS, github: GITHUB }, 'fetch web page url example')).toBe('The sandbox has no network.')
  expect(await hint({ links: LINKS }, 'read file from file system')).toBe('The sandbox has no network.')
})
