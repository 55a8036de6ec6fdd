import { expect, it } from 'vitest'
import { catalogOfferings, keptPrompts, keptResources } from './catalog-offering.ts'
import { FULL } from '../signature/signature.ts'
import type { UpstreamPrompt, UpstreamResource } from '../../../upstream/upstream.ts'

const lines = (resources: unknown[], prompts: unknown[] = []): string[] =>
  catalogOfferings('docs', 'docs', {
    resources: keptResources(resources as UpstreamResource[]),
    prompts: keptPrompts(prompts as UpstreamPrompt[]),
  }).map((offering) => offering.line(FULL))

it('each resource, template and prompt has a line to reach it by, and is marked as what it is', () => {
  expect(
    lines(
      [
        { uri: 'file:///a', name: 'a', description: 'The letter A. And more.' },
        { uriTemplate: 'file:///{name}', name: 'Any letter' },
        { uri: 'file:///b' },
      ],
      [
        { name: 'write it', arguments: [{ name: 'tone' }, { name: 'to-whom', required: true }] },
        { name: 'plain', title: 'T' },
      ],
    ),
  ).toEqual([
    "await mcp_docs.read_resource('file:///{name}')  # resource template: Any letter",
    "await mcp_docs.read_resource('file:///a')  # resource: The letter A",
    "await mcp_docs.read_resource('file:///b')  # resource",
    "await mcp_docs.get_prompt('write it', to_whom: str, tone: str = None)  # prompt",
    "await mcp_docs.get_prompt('plain')  # prompt: T",
  ])
})

it('the text of a server stays on one line and inside its quotes', () => {
  const [line] = lines([{ uri: "x:'\n)\u202e; import os #", description: 'one\ntwo\u0000 \u001b[31mred' }])
  expect(line).toBe(`await mcp_docs.read_resource("x:'\\n)\\u202e; import os #")  # resource: one`)
})

it('lists of resources and prompts are bounded, and unusable entries are left out', () => {
  const many = Array.from({ length: 5000 }, (_, index) => ({
    uri: `x:${index}`,
    description: 'd'.repeat(50_000),
    extra: 1,
  }))
  const kept = keptResources([...many, { uriTemplate: 'x:{n}' }])
  expect(kept).toHaveLength(300)
  expect(kept[0]).toEqual({ uriTemplate: 'x:{n}' })
  expect(JSON.stringify(kept).length).toBeLessThan(400_000)
  expect(kept[1]).not.toHaveProperty('extra')
  const odd = [{}, { uri: 3 }, { uri: '' }, { uri: 'x'.repeat(5000) }, { uri: 'ok', name: 7, title: {} }]
  expect(keptResources(odd as UpstreamResource[])).toEqual([{ uri: 'ok' }])
  expect(
    keptPrompts([
      { name: '' },
      { name: 'p', arguments: [null, { name: 4 }, { name: 'a', required: 'yes' }] },
      { name: 'q', arguments: 3 },
    ]),
  ).toEqual([{ name: 'p', arguments: [{ name: 'a' }] }, { name: 'q' }])
})
