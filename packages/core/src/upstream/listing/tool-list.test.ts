import { expect, it } from 'vitest'
import { readToolList, nextCursorOf } from './tool-list.ts'

const pages = (all: unknown[][]) => async (cursor: string | undefined) => {
  const index = Number(cursor ?? 0)
  return { tools: all[index] ?? [], ...(index + 1 < all.length && { nextCursor: String(index + 1) }) }
}

it('a tool list keeps known fields of the right type and nothing else', async () => {
  const { tools } = await readToolList(
    's',
    pages([
      [
        {
          name: 'a',
          title: 'A',
          description: 'does a',
          inputSchema: { type: 'object' },
          outputSchema: false,
          annotations: { title: 'T', readOnlyHint: true, destructiveHint: 'no', extra: 1 },
          __proto__: { polluted: true },
          _meta: { secret: 1 },
        },
        { name: 'b', title: 5, description: null, inputSchema: null, outputSchema: null, annotations: 'odd' },
      ],
    ]),
  )
  expect(tools).toEqual([
    {
      name: 'a',
      title: 'A',
      description: 'does a',
      inputSchema: { type: 'object' },
      outputSchema: false,
      annotations: { title: 'T', readOnlyHint: true },
    },
    { name: 'b' },
  ])
})

it('a tool list is read from every page, without tools that have no name of their own', async () => {
  const list = await readToolList(
    's',
    pages([[{ name: 'a' }, null, 3], [{ name: '' }, { name: 'b' }], [{ name: 'a', title: 'again' }]]),
  )
  const nameless = { name: '', reason: 'it has no name' }
  expect(list).toEqual({
    tools: [{ name: 'a' }, { name: 'b' }],
    taskTools: new Set(),
    skipped: [nameless, nameless, nameless, { name: 'a', reason: 'it has the name of an earlier tool, which counts' }],
    isCut: false,
  })
})

it('a later page that is refused loses no tool of those before it, and is told of', async () => {
  const refused = (code: number) => (cursor: string | undefined) =>
    cursor === undefined
      ? Promise.resolve({ tools: [{ name: 'a' }], nextCursor: 'b' })
      : Promise.reject(Object.assign(new Error('Invalid cursor'), { code }))
  expect(await readToolList('s', refused(-32_602))).toMatchObject({
    tools: [{ name: 'a' }],
    skipped: [{ name: '', reason: 'page 2 of the list was refused: Invalid cursor' }],
  })
  await expect(readToolList('s', refused(-32_001))).rejects.toThrow('Invalid cursor')
})

it('a list whose pages all have the tools of the first one ends, whatever cursor each has', async () => {
  let count = 0
  const { tools, isCircular, skipped } = await readToolList('s', () => {
    count += 1
    return Promise.resolve({ tools: [{ name: 'a' }, { name: 'b' }], nextCursor: `page ${count}` })
  })
  expect([tools.map(({ name }) => name), isCircular, skipped, count]).toEqual([['a', 'b'], true, [], 2])
})

it('a tool with an endless definition is left out and named', async () => {
  const properties = Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`p${at}`, {}]))
  const endless = { name: 'endless', inputSchema: { type: 'object', properties } }
  const { tools, skipped } = await readToolList('s', pages([[endless, { name: 'a' }]]))
  expect(tools).toEqual([{ name: 'a' }])
  expect(skipped).toMatchObject([{ name: 'endless', reason: expect.stringContaining('262144 are read') as unknown }])
})

it.each([
  ['to themselves', { first: 'second', second: 'second' }],
  ['to the first one with a cursor', { first: 'second', second: 'third', third: 'second' }],
])('a tool list whose pages link %s is what was read of it', async (_what, next: Record<string, string>) => {
  const { tools, isCircular } = await readToolList('s', async (cursor = 'first') => {
    return { tools: [{ name: cursor }], nextCursor: next[cursor] }
  })
  expect(tools.map(({ name }) => name)).toEqual(Object.keys(next))
  expect(isCircular).toBe(true)
})

it.each([
  ['is a text', async () => ({ tools: 'none' })],
  ['is an object', async () => ({ tools: { echo: {} } })],
  ['is missing', async () => ({})],
  ['never ends', async (cursor?: string) => ({ tools: [], nextCursor: `${cursor}x` })],
  [
    'is far too long',
    async (cursor?: string) => ({
      tools: Array.from({ length: 9000 }, (_, i) => ({ name: `${cursor}${i}` })),
      nextCursor: `${cursor}x`,
    }),
  ],
])('a tool list is refused when it %s', async (_what, request) => {
  await expect(readToolList('s', request)).rejects.toMatchObject({ code: 'UPSTREAM_PROTOCOL' })
})

it('a list beyond the limits of the bridge is not called a fault of the server', async () => {
  const many = async () => ({ tools: Array.from({ length: 10_001 }, (_, i) => ({ name: `t${i}` })) })
  const endless = async (cursor?: string) => ({ tools: [], nextCursor: `${cursor}x` })
  await expect(readToolList('s', many)).rejects.toMatchObject({ hint: expect.stringMatching(/10000 tools/) as string })
  await expect(readToolList('s', endless)).rejects.toMatchObject({ hint: expect.stringMatching(/200 pages/) as string })
  await expect(readToolList('s', async () => ({}))).rejects.toMatchObject({
    hint: expect.stringMatching(/violated/) as string,
  })
})

it('a tool list of many megabytes is cut, and the rest is not requested', async () => {
  let pageCount = 0
  const list = await readToolList('s', async () => {
    pageCount += 1
    const description = 'd'.repeat(200 * 1024)
    const tools = Array.from({ length: 25 }, (_, i) => ({ name: `t${pageCount}-${i}`, description }))
    return { tools, nextCursor: String(pageCount) }
  })
  expect(list.isCut).toBe(true)
  expect(list.tools).toHaveLength(81)
  expect(pageCount).toBe(4)
})

it.each([
  [190, 'kept', ['deep', 'flat'], []],
  [300, 'left out of the list', ['flat'], ['deep']],
  [100_000, 'left out of the list', ['flat'], ['deep']],
])('a tool with a schema of %s levels is %s', async (levels, _, names, left) => {
  let inputSchema: unknown = {}
  for (let i = 0; i < levels; i += 1) inputSchema = i % 2 ? { inputSchema } : [inputSchema]
  const list = await readToolList('s', pages([[{ name: 'deep', inputSchema }, { name: 'flat' }]]))
  // Names alone: to compare the schema would go down its levels.
  expect(list.tools.map(({ name }) => name)).toEqual(names)
  expect([list.skipped.map(({ name }) => name), list.isCut]).toEqual([left, false])
})

it.each([
  ['modern', ['first', 'second']],
  ['legacy', ['first']],
] as const)('an empty cursor is a cursor in the modern era alone: %s', async (era, names) => {
  const twoPages = async (cursor?: string) =>
    cursor === undefined ? { tools: [{ name: 'first' }], nextCursor: '' } : { tools: [{ name: 'second' }] }
  expect((await readToolList('s', twoPages, era)).tools.map(({ name }) => name)).toEqual(names)
  const endless = await readToolList('s', async () => ({ tools: [{ name: 'first' }], nextCursor: '' }), era)
  expect(endless.tools).toHaveLength(1)
})

it('a list goes on at the number that its server sent, and not at 0', () => {
  expect(['b', 7, 0, '', null].map((nextCursor) => nextCursorOf({ nextCursor }, 'legacy'))).toEqual([
    'b',
    7,
    undefined,
    undefined,
    undefined,
  ])
})
