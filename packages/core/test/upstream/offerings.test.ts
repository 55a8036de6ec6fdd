// This file verifies resources and prompts of upstreams: complete lists, loosely parsed, in both protocol eras, and
// only where a server declares them.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { open, program, published, until } from './support.ts'

const FILE = join(import.meta.dirname, '../fixtures/servers/resources.mjs')
const server = (mode: string) => program('docs', FILE, mode)

describe.each(['good', 'modern'])('a %s server', (mode) => {
  it(`a ${mode} server lists usable resources and prompts, and its answers are passed on`, async () => {
    const upstreams = open([server(mode)])
    expect(await upstreams.listResources('docs')).toEqual([{ uri: 'own://many', name: 'many' }])
    expect(await upstreams.listPrompts('docs')).toEqual([{ name: 'echo', arguments: [{ name: 'what' }, null] }])
    expect((await upstreams.readResource('docs', 'own://many')).contents).toEqual([
      { uri: 'own://many', text: 'one' },
      { uri: 'own://many', blob: 'dHdv' },
    ])
    const { messages } = await upstreams.getPrompt('docs', { name: 'echo', arguments: { what: 'x' } })
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: '{"what":"x"}' } }])
    expect(upstreams.logged.join('')).toContain(`era="${mode === 'modern' ? 'modern' : 'legacy'}"`)
  })
})

it('a server without the capability is not asked for resources, and has none', async () => {
  const upstreams = open([server('none')])
  expect(await upstreams.listResources('docs')).toEqual([])
  expect(await upstreams.listPrompts('docs')).toEqual([])
  await expect(upstreams.readResource('docs', 'own://many')).rejects.toMatchObject({
    code: 'PROXY_TOOL_UNKNOWN',
    message: "Server 'docs' has no resources",
  })
  await expect(upstreams.getPrompt('docs', { name: 'echo', arguments: {} })).rejects.toThrow(/has no prompts/)
})

it('skills that a server announces are among its resources, each once, and a failing list of them is ignored', async () => {
  const mimeType = 'text/markdown'
  expect(await open([server('skills')]).listResources('docs')).toEqual([
    {
      uri: 'skill://refunds/SKILL.md',
      name: 'refunds',
      description: 'Gives customers their money back',
      mimeType,
      skill: true,
    },
    { uri: 'skill://invoices/SKILL.md', name: 'invoices', description: 'Writes an invoice', mimeType, skill: true },
    { uri: 'own://many', name: 'many' },
  ])
  expect(await open([server('noskills')]).listResources('docs')).toEqual([{ uri: 'own://many', name: 'many' }])
})

it('a list of resources that fails is reported, and one without an end is cut', async () => {
  await expect(open([server('broken')]).listResources('docs')).rejects.toMatchObject({
    code: 'TOOL_FAILED',
    message: expect.stringContaining('refused the listing of its resources') as string,
  })
  const upstreams = open([server('endless')])
  const cuts: string[] = []
  const onCut = (what: string) => cuts.push(what)
  expect(await upstreams.listResources('docs', undefined, onCut)).toHaveLength(1_000)
  expect(cuts).toEqual(['resources'])
  expect(upstreams.logged.join('')).toContain('Truncated a list of resources that is too long')
})

it('a list of ten thousand resources in many pages is whole, and a longer one is cut', async () => {
  const cuts: string[] = []
  const onCut = (what: string) => cuts.push(what)
  const whole = await open([server('10000')]).listResources('docs', undefined, onCut)
  expect([whole.length, whole.at(-1)?.uri, cuts]).toEqual([10_000, 'own://9999', []])
  const cut = await open([server('10001')]).listResources('docs', undefined, onCut)
  expect([cut.length, cut.at(-1)?.uri, cuts]).toEqual([10_000, 'own://9999', ['resources']])
})

it('a server that announces changed resources is asked again, a few times at most', async () => {
  const upstreams = open([server('grows')])
  const heard: string[] = []
  upstreams.listen({ onOfferings: (name) => heard.push(name) })
  await upstreams.listResources('docs')
  expect(heard).toEqual([])
  await upstreams.callTool('docs', 'prompts', {})
  await until(() => heard.length > 0)
  expect(heard).toEqual(['docs'])
  expect(await upstreams.listResources('docs')).toContainEqual({ uri: 'own://new', name: 'new' })
})

it('a list of resources that is not answered can be cancelled', async () => {
  const upstreams = open([server('silent')])
  await upstreams.listTools('docs')
  const abort = new AbortController()
  const listing = upstreams.listResources('docs', abort.signal)
  setImmediate(() => abort.abort())
  await expect(listing).rejects.toMatchObject({ code: 'CANCELLED' })
  expect(upstreams.of('docs').state).toBe('running')
})

it('the published server "everything" lists resources, templates and prompts', async () => {
  const upstreams = open([published('everything')])
  const resources = await upstreams.listResources('everything')
  expect(resources.filter(({ uri }) => uri !== undefined).length).toBeGreaterThan(5)
  expect(resources).toContainEqual(
    expect.objectContaining({
      uriTemplate: 'demo://resource/dynamic/text/{resourceId}',
      name: 'Dynamic Text Resource',
    }),
  )
  const { contents } = await upstreams.readResource('everything', 'demo://resource/dynamic/text/3')
  expect(contents[0]).toMatchObject({ mimeType: 'text/plain', text: expect.stringContaining('Resource 3') as string })
  await expect(upstreams.readResource('everything', 'demo://nope')).rejects.toMatchObject({ code: 'TOOL_FAILED' })
  const prompt = { name: 'args-prompt', arguments: { city: 'Oslo' } }
  expect(JSON.stringify(await upstreams.getPrompt('everything', prompt))).toContain('Oslo')
  await expect(upstreams.getPrompt('everything', { name: 'nope', arguments: {} })).rejects.toThrow(/nope/)
})
