// This file verifies calls to the bridge: awaited, blocking, from threads, many at once; their results and errors.
import { describe, expect } from 'vitest'
import { GITHUB, text, type Call, type RunOptions, it } from './drive.ts'

const answer = (value: unknown): RunOptions => ({ servers: GITHUB, onCall: () => ({ value }) })
const content = (...blocks: object[]): RunOptions => answer({ content: blocks })

it('a call sends positional and keyword arguments unchanged', async ({ kernel }) => {
  const calls: Call[] = []
  const options: RunOptions = { servers: GITHUB, onCall: (call) => (calls.push(call), text('ok')) }
  await kernel.value('await mcp_github.create_issue("o", 2, title="t", labels=["a"], self=1)', options)
  await kernel.value('await runtime.call_tool("github", "create_issue", {"title": "ü\\u2028"})', options)
  await kernel.value('await mcp_github.create_issue.raw(title="t")', options)
  await kernel.value('await mcp_servers["github"].x()', options)
  expect(calls.map((call) => call.params)).toEqual([
    { server: 'github', tool: 'create_issue', args: ['o', 2], kwargs: { title: 't', labels: ['a'], self: 1 } },
    { server: 'github', tool: 'create_issue', args: [], kwargs: { title: 'ü\u2028' }, exact: true },
    { server: 'github', tool: 'create_issue', args: [], kwargs: { title: 't' }, raw: true },
    { server: 'github', tool: 'x', args: [], kwargs: {} },
  ])
})

it('a call returns the untouched result with raw', async ({ kernel }) => {
  const result = { content: [{ type: 'text', text: '{"a": 1}' }], _meta: { m: 1 } }
  expect(
    await kernel.value(
      '(await mcp_github.x.raw()) == (await runtime.call_tool("github", "x", raw=True))',
      answer(result),
    ),
  ).toBe('True')
  expect(
    await kernel.value(
      'r = await runtime.call_tool("github", "x", {}, raw=True)\nr["content"][0].text',
      answer(result),
    ),
  ).toBe(`'{"a": 1}'`)
})

it('a call sends raw= to a tool that has a parameter of that name', async ({ kernel }) => {
  const sent: unknown[] = []
  const options = (params: object[]): RunOptions => ({
    servers: GITHUB,
    onCall: ({ method, params: given }) => {
      if (method === 'query_tool_docs') return { value: [{ tool: 'x', toolAlias: 'x', line: '', params }] }
      sent.push([given['kwargs'], given['raw']])
      return text('ok')
    },
  })
  await kernel.value('await mcp_github.x(raw=True)', options([{ name: 'raw', type: 'bool', required: false }]))
  await kernel.value('await mcp_github.x(raw=True)', options([]))
  await kernel.value('await mcp_github.x(raw=False)', options([]))
  expect(sent).toEqual([
    [{ raw: true }, undefined],
    [{}, true],
    [{}, undefined],
  ])
})

it('a call is a real coroutine', async ({ kernel }) => {
  const options: RunOptions = { servers: GITHUB, onCall: ({ params }) => text(JSON.stringify(params['kwargs'])) }
  expect(
    await kernel.value(
      'import asyncio\nr = await asyncio.gather(*[mcp_github.x(i=i) for i in range(3)])\n[x.i for x in r]',
      options,
    ),
  ).toBe('[0, 1, 2]')
  expect(await kernel.value('mcp_github.x.__name__, mcp_github.x.__qualname__')).toBe("('x', 'mcp_github.x')")
  expect(await kernel.value('t = asyncio.create_task(mcp_github.x(i=7))\n(await t)["i"]', options)).toBe('7')
})

it('the bridge is told when a call is cancelled', async ({ kernel }) => {
  const open: RunOptions = { servers: GITHUB, onCall: () => undefined }
  const code =
    'import asyncio\ntry: await asyncio.wait_for(mcp_github.x(), 0.05)\nexcept asyncio.TimeoutError: r = "timeout"\nr'
  const outcome = await kernel.run(code, open)
  expect(outcome.value).toEqual({ 'text/plain': "'timeout'" })
  const id = outcome.frames.find((frame) => frame.type === 'call')!['id']
  expect(outcome.frames).toContainEqual({ type: 'cancel', id })
  // A later reply is ignored.
  kernel.send({ type: 'reply', id, value: { content: [] } })
  kernel.send({ type: 'reply', id: 999, value: null })
  expect(await kernel.value('await mcp_github.x()', { onCall: () => text('next') })).toBe("'next'")
  const left = await kernel.run('t = asyncio.create_task(mcp_github.x())\nawait asyncio.sleep(0.01)', open)
  expect(left.frames.map((frame) => frame.type)).toEqual(['call', 'cancel', 'done'])
})

it('a cell that awaits nothing but a call goes on with threads, descriptors and tasks meanwhile', async ({
  kernel,
}) => {
  const code = `
import asyncio, os, threading
loop, seen, (r, w) = asyncio.get_running_loop(), [], os.pipe()
loop.add_reader(r, lambda: (os.read(r, 1), loop.remove_reader(r), seen.append('descriptor'), print('seen')))
async def task(event): seen.append(await event.wait() and 'task')
event = asyncio.Event()
waiting = asyncio.create_task(task(event))
await asyncio.sleep(0)
threading.Timer(0.03, loop.call_soon_threadsafe, (event.set,)).start()
threading.Timer(0.06, os.write, (w, b'x')).start()
[await mcp_github.x(), *seen]`
  let reply: (value: ReturnType<typeof text>) => void = () => {}
  const outcome = kernel.value(code, {
    servers: GITHUB,
    onCall: () => new Promise((resolve) => (reply = resolve)),
    onFrame: ({ type }) => type === 'output' && reply(text('reply')),
  })
  expect(await outcome).toBe("['reply', 'task', 'descriptor']")
})

it('a call can block: in a cell, in a running loop, in a thread, in asyncio.run', async ({ kernel }) => {
  const options = content({ type: 'text', text: '{"n": 5}' })
  expect(await kernel.value('runtime.call_tool_sync("github", "x").n', options)).toBe('5')
  expect(
    await kernel.value('import asyncio\nawait asyncio.sleep(0)\nruntime.call_tool_sync("github", "x").n', options),
  ).toBe('5')
  expect(await kernel.value('(await asyncio.to_thread(runtime.call_tool_sync, "github", "x")).n', options)).toBe('5')
  expect(await kernel.value('asyncio.run(mcp_github.x()).n', options)).toBe('5')
  const threads = `
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool: r = [f.result().n for f in [pool.submit(runtime.call_tool_sync, 'github', 'x') for _ in range(100)]]
sum(r)`
  expect(await kernel.value(threads, options)).toBe('500')
  const busy = `
import threading
got = []
t = threading.Thread(target=lambda: got.append(runtime.call_tool_sync('github', 'x')))
t.start()
while not got: pass
got[0].n`
  expect(await kernel.value(busy, options)).toBe('5')
  const ownLoop = `
def run(): got.append(asyncio.run(mcp_github.x()))
t = threading.Thread(target=run); t.start(); t.join()
got[1].n`
  expect(await kernel.value(ownLoop, options)).toBe('5')
})

it('a call is answered although the signal for it was lost', async ({ kernel }) => {
  const code = `
import fcntl, os, threading
from sandbridge_kernel.api import bridge
port = bridge._channel._port
fcntl.fcntl(port.fd, fcntl.F_SETFL, fcntl.fcntl(port.fd, fcntl.F_GETFL) & ~os.O_ASYNC)  # as if all of them were
type(port).announce = lambda port, on: None
got = []
thread = threading.Thread(target=lambda: got.append(runtime.call_tool_sync('github', 'x')))
thread.start()
thread.join()
got[0].n`
  expect(await kernel.value(code, content({ type: 'text', text: '{"n": 5}' }))).toBe('5')
})

it('a call of a thread does not outlive its cell for ever', async ({ kernel }) => {
  const code = `
import threading, time
def work():
    try: runtime.call_tool_sync('github', 'x')
    except Exception as e: failed.append(str(e))
    finally: over.set()
failed, over = [], threading.Event()
threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)`
  const { frames } = await kernel.run(code, { servers: GITHUB, onCall: () => undefined })
  expect(frames.map((frame) => frame.type)).toEqual(['call', 'done'])
  expect(await kernel.value('over.wait()\nfailed')).toBe("['The cell ended before the call did']")
})

it('a call can be made 5,000 times at once', async ({ kernel }) => {
  const ids: number[] = []
  // Answered only when all are open, in reverse order, in one write.
  const outcome = await kernel.run(
    'import asyncio\nr = await asyncio.gather(*[mcp_github.x(i=i) for i in range(5000)])\n[x.i for x in r] == list(range(5000))',
    {
      servers: GITHUB,
      onCall: ({ id }) => {
        ids.push(id)
        if (ids.length === 5000) {
          const lines = ids.map((one, i) =>
            JSON.stringify({ type: 'reply', id: one, value: { structuredContent: { i, pad: 1 } } }),
          )
          kernel.sandbox.stdin.write(`${lines.toReversed().join('\n')}\n`)
        }
        return undefined
      },
    },
  )
  expect(outcome.value).toEqual({ 'text/plain': 'True' })
})

it('a call can return 50 MB, and refuses to send more than a frame holds', async ({ kernel }) => {
  const big = 'x'.repeat(50_000_000)
  expect(await kernel.value('len(await mcp_github.x())', content({ type: 'text', text: big }))).toBe('50000000')
  const rows = Array.from({ length: 200_000 }, (_, i) => ({ id: i, name: `row ${i}`, tags: ['a', 'b'] }))
  expect(
    await kernel.value(
      'rows = await mcp_github.x()\nlen(rows), rows[-1].tags[0]',
      answer({ structuredContent: { result: rows } }),
    ),
  ).toBe("(200000, 'a')")
  const tooMuch = await kernel.run('await mcp_github.x(data="x" * 70_000_000)', answer(null))
  expect(tooMuch).toMatchObject({ status: 'error', error: { name: 'MCPError' } })
  expect(tooMuch.error!.message).toMatch(/70,\d+,\d+ bytes.*64|67,108,864/)
  expect(tooMuch.frames.map((frame) => frame.type)).toEqual(['done'])
})

it('a call refuses arguments that cannot be JSON, and converts those with an obvious form', async ({ kernel }) => {
  for (const bad of ['float("nan")', 'object()', 'print', '{(1, 2): 3}', 'deep', 'ring', 'b"bytes"']) {
    const setup = 'deep = []\nfor _i in range(100_000): deep = [deep]\nring = []\nring.append(ring)\n'
    const outcome = await kernel.run(
      `${setup}try: await mcp_github.x(a=${bad})\nexcept TypeError as e: r = isinstance(e, runtime.MCPError) and str(e)\nr`,
      answer(null),
    )
    expect(outcome.status, bad).toBe('ok')
    expect(outcome.value!['text/plain'], bad).toMatch(/argument.*(JSON|recursion limit|deeply)/i)
  }
  const calls: Call[] = []
  const code =
    'import datetime, pathlib\nawait mcp_github.x((1, 2), s={1}, d=datetime.date(2026, 1, 2), p=pathlib.Path("/a"))'
  await kernel.value(code, { onCall: (call) => (calls.push(call), text('')) })
  expect(calls[0]!.params).toMatchObject({ args: [[1, 2]], kwargs: { s: [1], d: '2026-01-02', p: '/a' } })
})

it('a call whose reply cannot be read ends the cell with an error', async ({ kernel }) => {
  const outcome = await kernel.run('await mcp_github.x()', {
    servers: GITHUB,
    onCall: ({ id }) => {
      kernel.sandbox.stdin.write('\n\nnot a frame\n{"type":"reply"}\n{"type":"reply","id":[1]}\n[1]\n')
      kernel.sandbox.stdin.write(`{"type":"reply","id":${id},"value":${'['.repeat(200_000)}${']'.repeat(200_000)}}\n`)
      return undefined
    },
  })
  expect(outcome).toMatchObject({ status: 'error', error: { name: 'MCPError', message: /recursion limit/ } })
  expect(await kernel.value('1')).toBe('1')
})

it('a result becomes a native value', async ({ kernel }) => {
  const value = (code: string, options: RunOptions) => kernel.value(`r = await mcp_github.x()\n${code}`, options)
  const one = (words: string) => content({ type: 'text', text: words })
  expect(await value('r', one('hello'))).toBe("'hello'")
  expect(await value('r', one('{"a": [1, {"b": null}]}'))).toBe("{'a': [1, {'b': None}]}")
  expect(await value('r.a[1].b, r["a"]', one('{"a": [1, {"b": 2}]}'))).toBe("(2, [1, {'b': 2}])")
  expect(await value('r', one(' [1, 2]'))).toBe('[1, 2]')
  expect(await value('r', one('42'))).toBe("'42'")
  expect(await value('r', one('{broken'))).toBe("'{broken'")
  expect(await value('r', one('[link](x)'))).toBe("'[link](x)'")
  expect(await value('r', content())).toBe(undefined)
  expect(await value('r', content({ type: 'text', text: 'a' }, { type: 'text', text: '{"b":1}' }))).toBe(
    "['a', {'b': 1}]",
  )
  expect(await value('r', answer({ content: [{ type: 'text', text: 'no' }], structuredContent: { yes: 1 } }))).toBe(
    "{'yes': 1}",
  )
  expect(await value('r', answer({ structuredContent: { result: [1] } }))).toBe('[1]')
  expect(await value('r', answer({ structuredContent: { content: 'c' } }))).toBe("'c'")
  // Code that takes `-> str` at its word parses what is parsed already.
  const again = 'import json\n[json.loads(r), json.loads("[2]")]'
  expect(await value(again, answer({ structuredContent: { content: '{"n": 1}' } }))).toBe("[{'n': 1}, [2]]")
  expect(await value(again, content({ type: 'text', text: '[1]' }))).toBe('[[1], [2]]')
  // JSON text in an object is parsed as in a text block.
  const json = JSON.stringify([{ id: 1 }])
  expect(await value('r[0].id', answer({ structuredContent: { result: json } }))).toBe('1')
  expect(await value('r', answer({ structuredContent: { result: '7' } }))).toBe("'7'")
  expect(await value('r', answer({ structuredContent: { result: '{broken' } }))).toBe("'{broken'")
  expect(await value('r', answer({ structuredContent: { content: '[1]' } }))).toBe('[1]')
  expect(await value('r', answer({ structuredContent: { result: 1, more: 2 } }))).toBe("{'result': 1, 'more': 2}")
  expect(await value('r', content({ type: 'resource', resource: { uri: 'u', text: 'words' } }))).toBe("'words'")
  expect(await value('r', content({ type: 'resource', resource: { uri: 'u', blob: 'AAE=' } }))).toBe("b'\\x00\\x01'")
  expect(await value('r.uri', content({ type: 'resource_link', uri: 'u', name: 'n' }))).toBe("'u'")
  expect(await value('r.type', content({ type: 'of_the_future', x: 1 }))).toBe("'of_the_future'")
})

it('a result that holds an image is an image', async ({ kernel }) => {
  const image = content({ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' })
  const outcome = await kernel.run('r = await mcp_github.x()\nr', image)
  expect(outcome.value).toEqual({ 'text/plain': '<image/png, 8 bytes>', 'image/png': 'iVBORw0KGgo=' })
  expect(await kernel.value('r.data, r.mime_type')).toBe("(b'\\x89PNG\\r\\n\\x1a\\n', 'image/png')")
  expect(
    await kernel.value('(await mcp_github.x()).mime_type', content({ type: 'audio', data: '', mimeType: 'audio/wav' })),
  ).toBe("'audio/wav'")
})

it('a result with keys is a dict with attributes', async ({ kernel }) => {
  const data = answer({
    structuredContent: { title: 't', items: [1], 'odd key': 2, __class__: 'c', nested: { x: 1 } },
  })
  await kernel.run('r = await mcp_github.x()', data)
  expect(await kernel.value('r.title, r["items"], callable(r.items), r["odd key"], r["__class__"]')).toBe(
    "('t', [1], True, 2, 'c')",
  )
  expect(
    await kernel.value(
      'import json, copy, pickle\njson.loads(json.dumps(r)) == r == copy.deepcopy(r) == pickle.loads(pickle.dumps(r))',
    ),
  ).toBe('True')
  expect(await kernel.value('isinstance(r, dict), "title" in dir(r), hasattr(r, "nope"), r.nested.x')).toBe(
    '(True, True, False, 1)',
  )
  expect((await kernel.run('r.titel')).error!.message).toMatch(/no key 'titel'; keys: title, items/)
  expect(await kernel.value('r.title = 5\nr["title"]')).toBe('5')
})

describe('an error', () => {
  it('the error of a call can be caught, by kind or all at once', async ({ kernel }) => {
    const failing = (code: string, message: string, extra: object = {}): RunOptions => ({
      servers: GITHUB,
      onCall: () => ({ error: { code, message, ...extra } }),
    })
    const code = `
from mcp.runtime import MCPError, ToolError
try: await mcp_github.x()
except MCPError as e: r = type(e).__name__, e.code, str(e), e.hint, e.server, e.tool, e.content, isinstance(e, TypeError)
r`
    expect(
      await kernel.value(
        code,
        failing('TOOL_FAILED', 'no such repo', { data: { server: 'github', tool: 'x', content: [{ type: 'text' }] } }),
      ),
    ).toBe("('ToolError', 'TOOL_FAILED', 'no such repo', '', 'github', 'x', [{'type': 'text'}], False)")
    expect(
      await kernel.value(code, failing('PROXY_ARGUMENTS_INVALID', 'title is missing', { hint: 'See help.' })),
    ).toBe(
      "('ArgumentsError', 'PROXY_ARGUMENTS_INVALID', 'title is missing. See help.', 'See help.', None, None, None, True)",
    )
    expect(await kernel.value(code, failing('UPSTREAM_TIMEOUT', 'slow'))).toContain(
      "('ServerTimeoutError', 'UPSTREAM_TIMEOUT', 'slow'",
    )
    const uncaught = await kernel.run(
      'def f():\n    return runtime.call_tool_sync("github", "x")\nf()',
      failing('PROXY_TOOL_UNKNOWN', 'No tool x', { hint: 'Did you mean y?' }),
    )
    expect(uncaught.error).toMatchObject({ name: 'ToolNotFound', message: 'No tool x. Did you mean y?' })
    expect(uncaught.error!.traceback).toMatch(
      /Cell \d+, line 2, in f\n {4}return runtime[^\n]*\n([ ^~]+\n)?runtime\.ToolNotFound: No tool x\. Did you mean y\?\n$/,
    )
    expect(await kernel.value('import pickle\npickle.loads(pickle.dumps(ToolError("m", hint="h"))).hint')).toBe("'h'")
  })

  // The line of the kernel that reaches the end of the stack depends on the depth of the frame: each is a separate
  // case.
  for (const [kind, dive] of [
    ['blocking', 'runtime.capability_summary()'],
    ['awaited', 'await runtime.list_tools("github")'],
    ['printing', 'print("x" * 5000)'],
  ]) {
    it(`a call at the bottom of the stack fails and leaves the kernel working: ${kind}`, async ({ kernel }) => {
      await kernel.run(`async def dive():\n    ${dive}\n    await dive()`)
      await kernel.run('async def below(n):\n    await (below(n - 1) if n else dive())')
      for (let depth = 0; depth < 24; depth += 1) {
        const outcome = await kernel.run(`await below(${depth})`, answer(''))
        expect(outcome.error?.name).toBe('RecursionError')
      }
      expect(await kernel.value('6 * 7')).toBe('42')
    })
  }
})
