import { beforeEach, describe, expect, it } from 'vitest'
import type { CatalogOptions } from '../../core/src/calls/catalog/catalog-options.ts'
import { asked, beginCatalogs, catalog, codeOf } from '@sandbridge/core/test/support/servers/catalog-tools.ts'

beforeEach(beginCatalogs)

it('the error for an unknown tool names similar ones, with a line to paste', async () => {
  const error = await codeOf(catalog().findTool('GitHub', 'open_issue'))
  expect(error.code).toBe('PROXY_TOOL_UNKNOWN')
  expect(error.hint).toContain('Did you mean create_issue')
  expect(error.hint).toContain('await mcp_github.create_issue(*, title: str, body: str = None)')
})

it('an unknown tool is also found by the meaning of its name', async () => {
  expect((await codeOf(catalog().findTool('GitHub', 'report_problem'))).data).toMatchObject({
    suggestions: ['create-issue', 'list-issues'],
  })
})

describe('resources and prompts', () => {
  const offered = {
    resources: [
      { uri: 'doc://issues', name: 'Issue guide', description: 'How to create an issue' },
      ...Array.from({ length: 30 }, (_, index) => ({ uri: `doc://${index}`, description: `Issue ${index}` })),
    ],
    prompts: [{ name: 'triage', description: 'Triage an issue', arguments: [{ name: 'number', required: true }] }],
  }
  const withOfferings = (options: Partial<CatalogOptions> = {}) =>
    catalog({ listOfferings: (server) => Promise.resolve(server === 'GitHub' ? offered : {}), ...options })

  it('a search finds resources and prompts beside tools, marked as such, and never instead of tools', async () => {
    const known = withOfferings()
    const docs = await known.search('create an issue', { limit: 3 })
    expect(docs.filter(({ kind }) => kind !== undefined)).toHaveLength(1)
    expect(docs.filter(({ kind }) => kind === undefined).map(({ toolAlias }) => toolAlias)).toContain('create_issue')
    const guide = await known.search('issue guide')
    expect(guide[0]).toMatchObject({
      kind: 'resource',
      server: 'GitHub',
      tool: 'read_resource',
      target: 'doc://issues',
      line: "await mcp_github.read_resource('doc://issues')  # resource: How to create an issue",
    })
    const triage = await known.search('triage')
    expect(triage[0]?.line).toBe("await mcp_github.get_prompt('triage', number: str)  # prompt: Triage an issue")
  })

  it('a search finds resources and prompts only of the servers that are searched', async () => {
    const known = withOfferings()
    await known.search('issue')
    expect((await known.search('issue', { servers: ['files'] })).map(({ toolAlias }) => toolAlias)).toEqual([
      'read_file',
    ])
    expect(await known.docs('GitHub')).toHaveLength(2)
    expect((await codeOf(known.findTool('GitHub', 'triage'))).data).toMatchObject({
      suggestions: expect.not.arrayContaining(['triage']) as string[],
    })
  })

  it('resources and prompts are kept on disk, and replaced when they change', async () => {
    await withOfferings().search('issue')
    asked.length = 0
    const next = withOfferings()
    expect((await next.search('triage'))[0]?.kind).toBe('prompt')
    expect(asked).toEqual([])
    next.offeringsChanged('GitHub', { prompts: [] })
    expect((await next.search('triage')).some(({ kind }) => kind === 'prompt')).toBe(false)
    expect((await next.search('issue guide'))[0]?.kind).toBe('resource')
  })

  it('resources and prompts rank after a tool of the same server with the same description', async () => {
    const same = { name: 'create-issue', description: 'Create an issue' }
    const known = withOfferings({ listOfferings: () => Promise.resolve({ prompts: [same] }) })
    expect((await known.search('create-issue', { servers: ['GitHub'] }))[0]?.kind).toBeUndefined()
    expect((await known.search('create an issue', { servers: ['GitHub'] }))[0]?.kind).toBeUndefined()
  })

  it('resources and prompts that cannot be read do not disturb tools', async () => {
    const failing = withOfferings({ listOfferings: () => Promise.reject(new Error('no')) })
    expect(await failing.search('create an issue', { limit: 10 })).toHaveLength(2)
    expect(failing.servers()[0]?.problem).toBeUndefined()
  })

  it('resources and prompts give way to a tool that has the name they are reached by', async () => {
    const known = withOfferings({
      listTools: () => Promise.resolve({ tools: [{ name: 'readResource', description: 'mine' }] }),
    })
    const [found] = (await known.search('issue guide')).filter(({ kind }) => kind === 'resource')
    expect(found?.line).toContain('mcp_github._read_resource(')
    expect((await known.findTool('GitHub', 'read_resource')).name).toBe('readResource')
    expect((await known.findTool('GitHub', '_read_resource')).method).toBe('read_resource')
    expect((await known.findTool('GitHub', 'prompts')).method).toBe('prompts')
  })
})
