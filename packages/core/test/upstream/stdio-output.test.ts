import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { open, raw, textOf } from './support.ts'

describe('what servers write', () => {
  it('lines of a server that are not messages are ignored', async () => {
    const upstreams = open([raw('garbage')])
    expect(await upstreams.listTools('garbage')).toHaveLength(2)
    const text = 'line\u2028separator, \u0000, \uD800 and 💡'
    expect(textOf(await upstreams.callTool('garbage', 'echo', { text }))).toBe(text)
  })

  it('an invalid schema makes only its own tool unusable', async () => {
    const upstreams = open([raw('bad-schemas')])
    const tools = await upstreams.listTools('bad-schemas')
    expect(tools.map((tool) => tool.name)).toEqual(['good', 'no-schema', 'no-type', 'nonsense'])
    expect(upstreams.logged.join('')).toContain('skippedCount=4')
  })

  it('instructions of a server are cut to their limit, and results are not', async () => {
    const upstreams = open([raw('long-winded')])
    const result = await upstreams.callTool('long-winded', 'x', {})
    expect(upstreams.of('long-winded').instructions).toBe('i'.repeat(8192))
    expect(result).toEqual({ content: [], instructions: 'i'.repeat(1_000_000) })
    expect(upstreams.logged.join('')).toContain('but for the first 8192 of 1000000 characters, of initialize')
  })

  it('instructions of a server of the modern era are cut as well', async () => {
    const upstreams = open([raw('modern', 'long-winded')])
    await upstreams.listTools('modern')
    expect(upstreams.of('modern').instructions).toBe('i'.repeat(8192))
  })

  it('a result is passed on unchanged, whatever output schema its tool declared', async () => {
    const upstreams = open([raw('broken-promises')])
    await upstreams.listTools('broken-promises')
    for (const value of [{ b: 1 }, [1, 2], 'text', null]) {
      const result = await upstreams.callTool('broken-promises', 'promise', { value })
      expect(result).toEqual({ content: [{ type: 'odd' }], structuredContent: value })
    }
  })

  it("every page of a stdio server's tool list is read", async () => {
    const tools = await open([raw('pages')]).listTools('pages')
    expect(tools.map((tool) => tool.name)).toEqual(['tool-0', 'tool-1', 'tool-2', 'tool-3', 'tool-4'])
  })

  it.each(['endless-pages', 'no-list'])('a tool list with %s is an error and does not hang', async (mode) => {
    await expect(open([raw(mode)]).listTools(mode)).rejects.toMatchObject({ code: 'UPSTREAM_PROTOCOL' })
  })

  it('a tool list whose pages go in a circle is used, with a warning', async () => {
    const upstreams = open([raw('same-page')])
    expect((await upstreams.listTools('same-page')).length).toBeGreaterThan(0)
    expect(upstreams.logged.join('\n')).toContain('A page of a tool list links to an earlier one')
  })

  it('a byte order mark before the first message is skipped', async () => {
    const upstreams = open([raw('byte-order-mark')])
    expect(textOf(await upstreams.callTool('byte-order-mark', 'echo', { text: 'hello' }))).toBe('hello')
  })

  it('responses whose id is sent back as a text are taken', async () => {
    const upstreams = open([raw('text-ids')])
    expect(await upstreams.listTools('text-ids')).toHaveLength(2)
    expect(textOf(await upstreams.callTool('text-ids', 'echo', { text: 'hello' }))).toBe('hello')
  })

  it('answers of a server to unknown ids, to null and twice over are ignored', async () => {
    const upstreams = open([raw('wrong-ids')])
    for (const text of ['a', 'b', 'c']) {
      expect(textOf(await upstreams.callTool('wrong-ids', 'echo', { text }))).toBe(text)
    }
  })

  it('a request of a server with a very long id is ignored', async () => {
    expect(textOf(await open([raw('long-ids')]).callTool('long-ids', 'x', {}))).toBe('1')
  })

  it('a server that does not read what it is answered is stopped', async () => {
    const upstreams = open([raw('reads-nothing')])
    const first = upstreams.callTool('reads-nothing', 'x', {})
    // All but what its pings are answered: a hundred thousand of these would take a minute on a busy machine.
    const text = 'x'.repeat(64 * 1024 * 1024 - 1_000_000)
    const large = [1, 2].map(() => upstreams.callTool('reads-nothing', 'x', { text }))
    await expect(first).rejects.toMatchObject({
      code: 'FRAME_TOO_LARGE',
      message:
        "Server 'reads-nothing' was stopped during the call of 'x', which may or may not have taken effect: " +
        'it left more than 134217728 bytes of its input unread',
    })
    await Promise.allSettled(large)
  })

  it('requests of a server before its handshake is over are answered, and unknown ones refused', async () => {
    const [tool] = await open([raw('early')]).listTools('early')
    expect(tool?.name).toBe('answers-3')
  })

  it('answers of a server in a batch are read', async () => {
    expect(textOf(await open([raw('batches')]).callTool('batches', 'echo', { text: 'x' }))).toBe('x')
  })

  it('an error of a stdio server is the tool’s failure, in its words', async () => {
    await expect(open([raw('good')]).callTool('good', 'nope', {})).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: "Server 'good' refused the call of 'nope': there is no tool nope (-32602)",
      data: { server: 'good', tool: 'nope', content: [{ type: 'text', text: 'there is no tool nope' }] },
    })
  })

  it('50 MB of a server on stderr block nothing', async () => {
    const upstreams = open([raw('noisy-stderr', '50')])
    expect(textOf(await upstreams.callTool('noisy-stderr', 'echo', { text: 'x' }))).toBe('x')
  })
})

// whole: hundreds of megabytes
describe('large results', { tags: ['whole'] }, () => {
  it('a result of 60 MB arrives whole', async () => {
    const upstreams = open([raw('big')])
    const bytes = 60 * 1000 * 1000
    expect(textOf(await upstreams.callTool('big', 'big', { bytes }))).toHaveLength(bytes)
  })

  it('a result above the limit fails its own call and no other', async () => {
    const upstreams = open([raw('big')])
    const huge = upstreams.callTool('big', 'big', { bytes: 65 * 1024 * 1024 })
    const small = upstreams.callTool('big', 'big', { bytes: 3 })
    await expect(huge).rejects.toMatchObject({ code: 'FRAME_TOO_LARGE' })
    expect(textOf(await small)).toBe('xxx')
  })

  it.each(['id-first', 'id-last'])(
    'a result above the limit fails its own call with white space and its id anywhere (%s)',
    async (order) => {
      const upstreams = open([raw('big-spaced', order)])
      const pid = textOf(await upstreams.callTool('big-spaced', 'pid', {}))
      await expect(upstreams.callTool('big-spaced', 'big', { bytes: 65 * 1024 * 1024 })).rejects.toMatchObject({
        code: 'FRAME_TOO_LARGE',
        message: expect.stringMatching(
          /^Server 'big-spaced' answered the call of 'big' with a message of 6815\d{4} bytes/,
        ),
      })
      expect(textOf(await upstreams.callTool('big-spaced', 'pid', {}))).toBe(pid)
    },
  )

  it.each(['id-first', 'id-last'])('a result of 60 MB of brackets fails its own call, unparsed (%s)', async (order) => {
    const upstreams = open([raw('brackets', order)])
    const pid = textOf(await upstreams.callTool('brackets', 'pid', {}))
    const parse = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parse.mockRestore())
    const longest = () => Math.max(...parse.mock.calls.map(([line]) => line.length))

    const few = await upstreams.callTool('brackets', 'brackets', { count: 100_000 })
    expect(few).toMatchObject({ structuredContent: { lists: { length: 100_000 } } })
    expect(longest()).toBeGreaterThan(300_000)
    parse.mockClear()
    await expect(upstreams.callTool('brackets', 'brackets', { count: 20_000_000 })).rejects.toMatchObject({
      code: 'FRAME_TOO_LARGE',
      message:
        "Server 'brackets' answered the call of 'brackets' with a message with more than 1048576 of the characters [ ] { } : , outside of strings",
    })
    expect(textOf(await upstreams.callTool('brackets', 'pid', {}))).toBe(pid)
    expect(longest()).toBeLessThan(1_000)
  })

  it('a line above the limit that has no id of a call ends the connection, since a call would wait for ever', async () => {
    const upstreams = open([raw('big-without-id')])
    await expect(upstreams.callTool('big-without-id', 'x', {})).rejects.toMatchObject({
      code: 'FRAME_TOO_LARGE',
      message:
        "Server 'big-without-id' was stopped during the call of 'x', which may or may not have taken effect: it sent a message of 73400320 bytes, above the limit of 67108864, without a request id",
    })
  })
})
