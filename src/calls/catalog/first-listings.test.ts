import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { fileStore } from '../../keep/files/file-store.ts'
import type { UpstreamTool } from '../../upstream/upstream.ts'
import { FirstListings } from './first-listings.ts'

const tool = (name: string, description = 'does it'): UpstreamTool => ({
  name,
  description,
  inputSchema: { type: 'object' },
})
const KEY = 'server'

/** As many bridges as are asked for, of one user. */
function bridges(): () => FirstListings {
  const folder = mkdtempSync(path.join(tmpdir(), 'listings-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return () =>
    new FirstListings(fileStore(folder), {
      warning: (message) => {
        throw new Error(message)
      },
    })
}

async function changed(listings: FirstListings, tools: UpstreamTool[], abilities: string[] = []): Promise<string[]> {
  await listings.listed(KEY, tools, abilities)
  return tools.map(({ name }) => name).filter((name) => listings.isChanged(KEY, name))
}

it('a tool that is described differently, or is new, is changed until one bridge accepts it', async () => {
  const open = bridges()
  const [one, other] = [open(), open()]
  expect(await changed(one, [tool('a')])).toEqual([])
  const later = [tool('a', 'does another thing'), tool('b')]
  expect(await changed(one, later)).toEqual(['a', 'b'])
  expect(await changed(other, later)).toEqual(['a', 'b'])
  await other.accept(KEY, later)
  await one.settled(KEY)
  expect(['a', 'b'].filter((name) => one.isChanged(KEY, name))).toEqual([])
  // A call does not wait for what is known.
  expect(one.settled(KEY)).toBeUndefined()
})

it('a tool whose keys and sets are in another order is the same', async () => {
  const open = bridges()
  const of = (inputSchema: UpstreamTool['inputSchema']): UpstreamTool[] => [{ ...tool('a'), inputSchema }]
  const [state, number] = [{ enum: ['open', 'closed'], default: ['x', 'y'] }, { type: 'number' }]
  expect(
    await changed(open(), of({ type: 'object', properties: { state, number }, required: ['state', 'number'] })),
  ).toEqual([])
  const turned = { default: ['y', 'x'], enum: ['closed', 'open'] }
  expect(
    await changed(open(), of({ required: ['number', 'state'], properties: { number, state: turned }, type: 'object' })),
  ).toEqual([])
  // Control: another value.
  const other = { ...turned, enum: ['closed', 'all'] }
  expect(
    await changed(open(), of({ type: 'object', properties: { state: other, number }, required: ['state', 'number'] })),
  ).toEqual(['a'])
})

it('tools that a server has only for clients that can be asked are new once, and others stay as they were', async () => {
  const open = bridges()
  expect(await changed(open(), [tool('a')])).toEqual([])
  expect(await changed(open(), [tool('a', 'does another thing'), tool('ask')], ['elicitation/create'])).toEqual(['a'])
  expect(await changed(open(), [tool('a'), tool('ask')], ['elicitation/create'])).toEqual([])
  // Only the first listing counts.
  expect(await changed(open(), [tool('a'), tool('ask'), tool('more')], ['elicitation/create'])).toEqual(['more'])
  expect(await changed(open(), [tool('a'), tool('more')])).toEqual(['more'])
})

it('bridges that list at once agree', async () => {
  const open = bridges()
  const lists = [[tool('a')], [tool('a'), tool('b')], [tool('a'), tool('b'), tool('c')]]
  await Promise.all(lists.map((tools, index) => open().listed(KEY, tools, Array.from({ length: index }, String))))
  for (const [index, tools] of lists.entries())
    expect(await changed(open(), tools, Array.from({ length: index }, String))).toEqual([])
})
