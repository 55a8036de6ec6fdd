import { beforeEach, describe, expect, it, vi } from 'vitest'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { CatalogOptions } from '../../core/src/calls/catalog/catalog-options.ts'
import { unmetNote, weakNote } from './weak-answer.ts'
import { wordingsIn } from './wordings.ts'
import type { UpstreamTool } from '@sandbridge/core/upstream'
import {
  asked,
  beginCatalogs,
  catalog,
  codeOf,
  definition,
  FILES,
  GITHUB,
} from '@sandbridge/core/test/support/servers/catalog-tools.ts'

beforeEach(beginCatalogs)

it('a search covers servers that were never started, and keeps their tools', async () => {
  const docs = await catalog().search('creating an issue')
  expect(docs[0]?.tool).toBe('create-issue')
  expect(asked.toSorted()).toEqual(['GitHub', 'files'])
  expect((await catalog().search('creating an issue'))[0]?.tool).toBe('create-issue')
  expect(asked).toHaveLength(2)
})

it('an answer leaves out tools that fit far worse than the best one, unless more than five are asked for', async () => {
  const known = catalog()
  expect((await known.search('create an issue')).map(({ tool }) => tool)).toEqual(['create-issue'])
  const broad = await known.search('create an issue', { limit: 10 })
  expect(broad.map(({ tool }) => tool)).toEqual(['create-issue', 'list-issues'])
  // Each wording has its own best tool.
  const needs = await known.search(['create an issue', 'read a text'])
  expect(new Set(needs.map(({ server }) => server))).toEqual(new Set(['GitHub', 'files']))
})

it('a search stays within the servers asked for', async () => {
  const docs = await catalog().search('open a ticket', { servers: ['files'] })
  expect(docs.map((doc) => doc.server)).toEqual(['files'])
  expect(asked).toEqual(['files'])
})

it('a search waits for a server that does not answer, and then leaves it alone', async () => {
  let attempts = 0
  let time = 0
  const options: Partial<CatalogOptions> = {
    now: () => time,
    listTools: (server) => {
      if (server === 'files') return Promise.resolve({ tools: FILES })
      attempts += 1
      return Promise.reject(new Error('spawn failed: TOKEN=sk-secret'))
    },
  }
  const known = catalog(options)
  for (let round = 0; round < 5; round += 1) expect(await known.search('read')).toHaveLength(1)
  await catalog(options).search('read')
  expect(attempts).toBe(1)
  expect(known.servers()[0]?.problem).toBe('Listing its tools failed')
  time += 61_000
  await known.search('read')
  expect(attempts).toBe(2)
  time += 61_000
  await known.search('read')
  expect(attempts).toBe(2)
})

it.each(['CANCELLED', 'SHUTTING_DOWN'] as const)(
  'a search does not count a server whose start was %s as failed',
  async (code) => {
    const known = catalog({ listTools: () => Promise.reject(new BridgeError(code, 'ended')) })
    await known.search('read')
    expect(known.servers().map(({ problem }) => problem)).toEqual([undefined, undefined])
    expect(
      catalog()
        .servers()
        .map(({ problem }) => problem),
    ).toEqual([undefined, undefined])
  },
)

it('a failed server is searched again once something its start depends on has changed, in this bridge and the next', async () => {
  let inputs = 'without a key'
  const options: Partial<CatalogOptions> = {
    startInputs: () => inputs,
    listTools: () => Promise.reject(new BridgeError('UPSTREAM_UNREACHABLE', 'no key', { log: 'KeyError' })),
  }
  const known = catalog(options)
  await known.search('read')
  expect(known.servers()[0]?.problem).toBe('no key')
  expect(catalog(options).details('GitHub').failure?.log).toBe('KeyError')
  inputs = 'with a key'
  expect(known.servers()[0]?.problem).toBeUndefined()
  await catalog({ startInputs: () => inputs }).search('read')
  expect(asked).toEqual(['GitHub', 'files'])
})

it('index asks every server, or the named ones, even if they failed before', async () => {
  await catalog({ listTools: () => Promise.reject(new Error('no')) }).search('read')
  const heard: string[] = []
  const known = catalog()
  await known.index(['files'], {
    onStart: (name) => heard.push(`${name} starts`),
    onEnd: ({ name, toolCount }) => heard.push(`${name} has ${toolCount}`),
  })
  expect([asked, heard]).toEqual([['files'], ['files starts', 'files has 1']])
  await known.index(['GitHub', 'files'])
  expect(asked).toEqual(['files', 'GitHub', 'files'])
  expect(known.servers().map(({ problem }) => problem)).toEqual([undefined, undefined])
})

it('index stops when the catalog closes, and stores nothing false', async () => {
  const known = catalog({ listTools: () => new Promise(() => {}) })
  const indexing = codeOf(known.index(['GitHub', 'files']))
  await known.close()
  expect((await indexing).code).toBe('CANCELLED')
  expect(catalog().servers()[0]?.problem).toBeUndefined()
})

it('index waits for a server that hangs no longer than told', async () => {
  const known = catalog({
    firstIndexingWaitMs: 20,
    listTools: (server) => (server === 'files' ? Promise.resolve({ tools: FILES }) : new Promise(() => {})),
  })
  expect((await known.search('read'))[0]?.tool).toBe('read_file')
  await known.close()
})

it('index starts only a few servers at a time', async () => {
  let running = 0
  let most = 0
  const known = catalog({
    definitions: Array.from({ length: 20 }, (_, index) => definition(`server-${index}`)),
    listTools: async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      return { tools: FILES }
    },
  })
  await known.search('anything')
  expect(most).toBe(4)
  expect(known.servers().every((server) => server.toolCount === 1)).toBe(true)
})

it('a search sees the tools that a server has changed', async () => {
  const known = catalog()
  await known.search('issue')
  known.toolsChanged('GitHub', { tools: [{ name: 'paint_picture', description: 'Paint', inputSchema: {} }] })
  const names = (await known.search('issue')).map((doc) => doc.tool)
  expect(names).not.toContain('create-issue')
  expect((await known.search('paint'))[0]?.tool).toBe('paint_picture')
})

it('a search by several wordings gives one ranking, in which each tool is once and each need is represented', async () => {
  const known = catalog()
  const found = await known.search(['create an issue', 'read a file'], { limit: 2 })
  expect(found.map((doc) => doc.tool).toSorted()).toEqual(['create-issue', 'read_file'])
  const twice = (await known.search(['create issue', 'creating issues'])).map((doc) => doc.tool)
  expect(twice).toEqual([...new Set(twice)])
  expect(await known.search([])).toEqual([])
})

it('a text that lists several needs is searched for each of them, by turns, and names those without a tool', async () => {
  const known = catalog()
  const found = await known.search('create an issue, read a file, launch a rocket', { limit: 5 })
  expect(found.slice(0, 2).map((doc) => doc.tool)).toEqual(['create-issue', 'read_file'])
  expect(new Set(found.map((doc) => doc.weak))).toEqual(new Set([unmetNote(['launch a rocket'])]))
  // Control: apart, each is found, or not.
  expect((await known.search('create an issue'))[0]).toMatchObject({ tool: 'create-issue' })
  expect((await known.search('launch a rocket'))[0]?.weak).toBe(weakNote(3))
  const [reasoned] = await known.searchWithReasons('create an issue; read a file')
  expect(reasoned?.reason).toBeDefined()
})

it('both needs of one long sentence are found', async () => {
  const sentence = 'create an issue that says what went wrong last night and read the file with the plan for it'
  const found = await catalog().search(sentence)
  expect(found.map((doc) => doc.tool)).toEqual(expect.arrayContaining(['create-issue', 'read_file']))
})

it('an answer to several wordings is weak when none of them has a fitting tool', async () => {
  const known = catalog()
  for (const doc of await known.search(['send an email', 'compose a mail'])) expect(doc.weak).toBe(weakNote(3))
  for (const doc of await known.search(['book a flight', 'create an issue'])) expect(doc).not.toHaveProperty('weak')
})

it('pasted texts of unknown words do not keep the bridge busy: others get their turn at each wording', async () => {
  let seed = 1
  const below = (n: number): number => (seed = (seed * 48_271) % 2_147_483_647) % n
  const letter = (at: number): string =>
    (at % 2 === 0 ? 'bcdfghjklmnprstvz' : 'aeiou').charAt(below(at % 2 === 0 ? 17 : 5))
  const word = (): string => Array.from({ length: 8 + below(4) }, (_, at) => letter(at)).join('')
  const tools = Array.from({ length: 1_000 }, () => ({
    name: `${word()}_${word()}`,
    description: `Does ${word()}`,
    inputSchema: { type: 'object' as const, properties: { [word()]: { type: 'string' } } },
  }))
  const known = catalog({ definitions: [definition('many')], listTools: () => Promise.resolve({ tools }) })
  await known.search('anything')
  const sentence = (): string => Array.from({ length: 20 }, word).join(' ')
  const texts = Array.from({ length: 5 }, () => Array.from({ length: 9 }, sentence).join('. '))
  let turns = 0
  let isOver = false
  const turn = (): void => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await known.search(texts)
  isOver = true
  expect(turns).toBeGreaterThan(wordingsIn(texts).length / 2)
})

it.each(['', '???', 'a to of', '🍕'])('a wording without words, such as %j, finds no fitting tool', async (wording) => {
  const known = catalog()
  for (const doc of await known.search(wording)) expect(doc.weak).toBe(weakNote(3))
  expect(await known.search([wording, wording])).not.toEqual([])
  // Beside others it adds nothing.
  const names = async (...wordings: string[]) => (await known.search(wordings, { limit: 10 })).map(({ tool }) => tool)
  if (!/\w/.test(wording)) expect(await names('read a file', wording)).toEqual(await names('read a file'))
  for (const doc of await known.search(['read a file', wording])) expect(doc).not.toHaveProperty('weak')
})

it('a name of words that occur everywhere finds its tool', async () => {
  const tools = [...FILES, { name: 'to_do', inputSchema: { type: 'object' as const } }]
  const known = catalog({ listTools: () => Promise.resolve({ tools }) })
  expect(await known.search('to_do', { limit: 1 })).toEqual([expect.objectContaining({ tool: 'to_do' })])
  expect((await known.search('to_do'))[0]).not.toHaveProperty('weak')
})

it('the reason for a rank is that of the wording that the tool fits best', async () => {
  const known = catalog()
  const [alone] = await known.searchWithReasons('create an issue')
  const found = await known.searchWithReasons(['book a flight', 'create an issue'])
  expect(found.find(({ doc }) => doc.tool === alone?.doc.tool)?.reason).toEqual(alone?.reason)
})

it('a search brings a limit that is out of range into it', async () => {
  const known = catalog()
  expect(await known.search('issue', { limit: 0 })).toHaveLength(1)
  expect(await known.search('issue file', { limit: 1e9 })).toHaveLength(3)
})

describe('servers that were never listed', () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => definition(`server-${at}`))
  const names = (known: ReturnType<typeof catalog>) => known.servers().map(({ name }) => name)

  it('a search answers from what is known by then, names what still starts, and finds the rest when it is made again', async () => {
    let answer = (): void => {}
    const late = new Promise<{ tools: UpstreamTool[] }>((resolve) => (answer = () => resolve({ tools: GITHUB })))
    const known = catalog({
      firstIndexingWaitMs: 50,
      listTools: (server) => (server === 'files' ? Promise.resolve({ tools: FILES }) : late),
    })
    expect((await known.search('create an issue')).map((doc) => doc.tool)).toEqual(['read_file'])
    expect(known.unsearched(names(known))).toEqual([
      { name: 'GitHub', reason: 'it is still starting', isBroken: false },
    ])
    answer()
    await late
    expect((await known.search('create an issue'))[0]?.tool).toBe('create-issue')
    expect(known.unsearched(names(known))).toEqual([])
  })

  it('a search waits longer as long as nothing at all is known', async () => {
    const known = catalog({
      firstIndexingWaitMs: 100,
      listTools: async (server) => {
        await new Promise((resolve) => setTimeout(resolve, server === 'files' ? 250 : 60_000).unref())
        return { tools: FILES }
      },
    })
    expect((await known.search('read'))[0]?.tool).toBe('read_file')
    await known.close()
  })

  it('a server that is known from an earlier start is searched, whether it answers now or not', async () => {
    await catalog().search('read')
    const later = catalog({
      now: () => Date.now() + 30 * 24 * 3600 * 1000,
      listTools: () => new Promise(() => {}),
    })
    expect(await later.search('read')).not.toEqual([])
    expect(later.unsearched(names(later))).toEqual([])
    await later.close()
  })

  it('servers that were never listed are listed ahead, and known ones are not asked', async () => {
    await catalog().tools('GitHub')
    const known = catalog()
    known.indexAhead()
    await expect.poll(() => known.unsearched(names(known))).toEqual([])
    expect(asked).toEqual(['GitHub', 'files'])
  })

  it('a server that is being installed keeps no other server waiting, and its time limit waits for the installation', async () => {
    vi.useFakeTimers()
    let state = 'installing'
    const known = catalog({
      definitions: many(5),
      state: (server) => (server === 'server-4' ? 'starting' : state),
      listTools: (server) => (server === 'server-4' ? Promise.resolve({ tools: FILES }) : new Promise(() => {})),
    })
    known.indexAhead()
    await vi.advanceTimersByTimeAsync(1000)
    expect(known.unsearched(names(known)).map(({ name, reason }) => [name, reason])).toEqual(
      [0, 1, 2, 3].map((at) => [`server-${at}`, 'it is being installed']),
    )
    await vi.advanceTimersByTimeAsync(300_000)
    expect(known.unsearched(['server-0'])[0]?.isBroken).toBe(false)
    state = 'starting'
    await vi.advanceTimersByTimeAsync(61_000)
    expect(known.unsearched(['server-0'])[0]).toMatchObject({ isBroken: true, reason: 'No answer within 60 s' })
  })

  it('a search that finds no fitting tool says so in each hit, with the number of tools searched', async () => {
    const weak = weakNote(3)
    const found = await catalog().search('book a flight')
    expect(new Set(found.map((doc) => doc.weak))).toEqual(new Set([weak]))
    const within = await catalog().search('book a flight', { servers: ['files'] })
    expect(within.map((doc) => doc.weak)).toEqual([weakNote(1)])
    const [reasoned] = await catalog().searchWithReasons('book a flight')
    expect(reasoned?.doc.weak).toBe(weak)
    for (const doc of await catalog().search('create an issue')) expect(doc).not.toHaveProperty('weak')
  })
})
