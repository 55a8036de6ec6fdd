// This file verifies which texts are offered for an argument that is being written, and that nothing of it reaches a
// server whose rules forbid the call.
import { expect, it } from 'vitest'
import { serverMethod } from '../../../core/src/calls/catalog/model/server-methods.ts'
import { completedArgument, type OpenArgument } from './complete-argument.ts'

const LISTED = [{ uri: 'file:///a' }, { uri: 'db://x' }, { uriTemplate: 'db://{table}/rows/{row}' }]

function context(values: string[], denies = false) {
  const sent: unknown[] = []
  const refuse = () => Promise.reject(new Error('denied'))
  const parts = {
    catalog: { knownTool: (server: string, tool: string) => serverMethod(server, 's', tool) },
    permissions: {
      ready: () => undefined,
      refuseDenied: () => {},
      admit: (_: unknown, args: object) => (denies ? refuse() : Promise.resolve({ args })),
    },
    notes: new Set<string>(),
    events: { active: false },
    origin: { trace: undefined },
    upstreams: {
      listResources: () => Promise.resolve(LISTED),
      listPrompts: () => Promise.resolve([{ name: 'review' }, { name: 'triage' }]),
      complete: (_: string, asked: unknown) => (sent.push(asked), Promise.resolve(values)),
    },
  }
  const complete = (open: Partial<OpenArgument>) =>
    completedArgument('s', { tool: 'get_prompt', argument: 'name', value: '', given: {}, ...open }, parts as never)
  return { sent, complete }
}

it("offers a server's prompts, and what it completes for their arguments", async () => {
  const { sent, complete } = context(['Rome', 'Rome', 'Ro\u202eme', 'x'.repeat(2_000)])
  expect(await complete({ value: 'tr' })).toEqual(['triage'])
  expect(await complete({ argument: 'city', value: 'R' })).toEqual([])
  expect(sent).toEqual([])
  expect(await complete({ prompt: 'triage', argument: 'city', value: 'R', given: { of: 'Italy' } })).toEqual(['Rome'])
  expect(sent).toEqual([
    {
      ref: { type: 'ref/prompt', name: 'triage' },
      argument: { name: 'city', value: 'R' },
      context: { arguments: { of: 'Italy' } },
    },
  ])
})

it.each([
  ['f', ['file:///a'], undefined],
  ['db:/', ['db://x', 'db://'], undefined],
  ['db://peo', ['db://people'], { table: 'peo' }],
  ['db://people/ro', ['db://people/rows/'], undefined],
  ['db://people/rows/1', ['db://people/rows/people'], { row: '1' }],
  ['db://people/cells/1', [], undefined],
  ['db://people/rows/1/2', [], undefined],
])('offers resources and variables of templates for %s', async (value, offered, asked) => {
  const { sent, complete } = context(['people'])
  expect(await complete({ tool: 'read_resource', argument: 'uri', value })).toEqual(offered)
  const [[name, written]] = Object.entries(asked ?? { '': '' }) as [[string, string]]
  expect(sent).toMatchObject(asked ? [{ argument: { name, value: written } }] : [])
})

it('sends nothing of what is written to a server whose rules forbid the call', async () => {
  const { sent, complete } = context(['Rome'], true)
  await expect(complete({ prompt: 'triage', argument: 'city', value: 'secret' })).rejects.toThrow('denied')
  await expect(complete({ tool: 'read_resource', argument: 'uri', value: 'db://secret' })).rejects.toThrow('denied')
  expect(sent).toEqual([])
})
