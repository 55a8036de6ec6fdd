// This file verifies a cell from code to outcome: values, tracebacks, state, and what it leaves behind.
import { expect } from 'vitest'
import { GITHUB, it } from './drive.ts'

const plain = (text: string) => ({ 'text/plain': text })

it('the value of the last expression is shown as in a REPL', async ({ kernel }) => {
  expect(await kernel.run('x = 20\nx + 22')).toMatchObject({ status: 'ok', value: plain('42') })
  expect(await kernel.run('_ + 1')).toMatchObject({ value: plain('43') })
  expect(await kernel.value('_, __, Out[1], _2')).toBe('(43, 42, 42, 43)')
  for (let more = 0; more < 5; more += 1) await kernel.value(`object()`)
  expect(await kernel.value('_ is ___, list(Out), "_2" in dir(__builtins__)')).toBe('(False, [4, 5, 6, 7, 8], False)')
  expect((await kernel.run('None')).value).toBeUndefined()
  expect((await kernel.run('y = 3')).value).toBeUndefined()
  const [first, second, shows] = [await kernel.run('8;'), await kernel.run('8;'), await kernel.run('print(1); 8;')]
  expect([first.notes, second.notes, shows.notes]).toEqual([
    [expect.stringMatching(/not shown.*`;`/)],
    undefined,
    undefined,
  ])
  for (const code of ['7;', '("é", 7) ; # quiet', 'await __import__("asyncio").sleep(0, 7);', 'x = ";"\n(x,\n 1);'])
    expect(await kernel.run(code), code).not.toHaveProperty('value')
  expect(await kernel.value('"7;" # ;')).toBe("'7;'")
  expect((await kernel.run('')).status).toBe('ok')
  expect((await kernel.run('# only a comment')).status).toBe('ok')
  expect(await kernel.value('import asyncio\nawait asyncio.sleep(0, "later")')).toBe("'later'")
  await kernel.run('async def agen():\n    for i in range(3): yield i')
  expect(await kernel.value('[i async for i in agen()]')).toBe('[0, 1, 2]')
})

it('a value is shown in the context that the cell has changed', async ({ kernel }) => {
  const code = `
import contextvars
digits = contextvars.ContextVar("digits", default=5)
class Number:
    def __repr__(self): return f"{1 / 3:.{digits.get()}f}"
digits.set(2)
Number()`
  expect(await kernel.value(code)).toBe('0.33')
  expect(await kernel.value('Number()')).toBe('0.33')
})

it('a value follows the display conventions of notebooks', async ({ kernel }) => {
  const code = `
class P:
    def __repr__(self): return 'a P'
    def _repr_html_(self): return '<b>P</b>'
    def _repr_png_(self): return b'\\x89PNG'
    def _repr_json_(self): return {'a': 1}
    def _repr_svg_(self): return None
class B:
    def _repr_mimebundle_(self, include=None, exclude=None): return {'text/plain': 'b', 'image/jpeg': b'j'}
display(P(), 5)
B()`
  const outcome = await kernel.run(code)
  expect(outcome.frames.filter((frame) => frame.type === 'display').map((frame) => frame['data'])).toEqual([
    { 'text/plain': 'a P', 'text/html': '<b>P</b>', 'application/json': { a: 1 }, 'image/png': 'iVBORw==' },
    plain('5'),
  ])
  expect(outcome.value).toEqual({ 'text/plain': 'b', 'image/jpeg': 'ag==' })
  // A class has these methods, too, but they describe its instances.
  expect(await kernel.value('P')).toContain("class '__main__.P'")
})

it('a value whose repr fails is an error of the cell', async ({ kernel }) => {
  const failing = await kernel.run('class R:\n  def __repr__(self): raise ValueError("no repr")\nR()')
  expect(failing).toMatchObject({ status: 'error', error: { name: 'ValueError', message: 'no repr' } })
  expect(failing.error!.traceback).toContain('Cell 1, line 2, in __repr__')
  const deep = await kernel.run('a = []\nfor _i in range(100_000): a = [a]\na')
  expect(deep).toMatchObject({ status: 'error', error: { name: 'RecursionError' } })
  expect(await kernel.value('a = None; 1')).toBe('1')
})

it('a value with a part that cannot be sent is an error of the cell', async ({ kernel }) => {
  const json = (part: string) => `class J:\n  def _repr_json_(self): return ${part}\n`
  expect(await kernel.run(`${json('object()')}J()`)).toMatchObject({ status: 'error', error: { name: 'TypeError' } })
  expect(await kernel.run(`${json('float("nan")')}J()`)).toMatchObject({
    status: 'error',
    error: { name: 'ValueError' },
  })
  expect(await kernel.run('display(J())')).toMatchObject({ status: 'error', error: { name: 'ValueError' } })
  expect(await kernel.value('1')).toBe('1')
})

it('a value too long for a frame is cut in the middle', async ({ kernel }) => {
  const outcome = await kernel.run(`class L:\n  def __repr__(self): return 'a' + '\\u20ac' * 12_000_000 + 'z'\nL()`)
  expect(outcome.status).toBe('ok')
  // No pattern over millions of characters: it would exhaust the stack of a busy process.
  const [begin = '', cut, end = ''] = String(outcome.value!['text/plain']).split('\n')
  expect([begin.slice(0, 2), end.slice(-2)]).toEqual(['a€', '€z'])
  expect(cut).toMatch(/^… [\d,]+ characters left out …$/)
})

it('an error shows the lines of the cell and none of the kernel', async ({ kernel }) => {
  const outcome = await kernel.run('1/0')
  expect(outcome).toMatchObject({
    status: 'error',
    error: { name: 'ZeroDivisionError', message: 'division by zero' },
  })
  expect(outcome.error!.traceback).toMatch(
    /^Traceback \(most recent call last\):\n {2}Cell 1, line 1\n {4}1\/0\n( {4}~\^~\n)?ZeroDivisionError: division by zero\n$/,
  )
  await kernel.run('def f(x):\n    import json\n    return json.loads(x)')
  const { error } = await kernel.run('\nf("{")')
  expect(error!.traceback).toMatch(
    /Cell 3, line 2\n {4}f\("\{"\)\n[\s\S]*Cell 2, line 3, in f\n {4}return json\.loads\(x\)/,
  )
  expect(error!.traceback).not.toMatch(/decoder\.py|sandbridge|File "/)
  const awaited = await kernel.run('async def g():\n    raise KeyError("k")\nawait g()')
  expect(awaited.error!.traceback).toMatch(/Cell 4, line 3\n[\s\S]*Cell 4, line 2, in g\n/)
  expect(awaited.error!.traceback).not.toMatch(/sandbridge|asyncio/)
})

it('an error includes its cause, and the members of a group', async ({ kernel }) => {
  const chained = await kernel.run('try:\n    1/0\nexcept Exception as e:\n    raise ValueError("outer") from e')
  expect(chained.error!.traceback).toMatch(
    /Cell 1, line 2\n[\s\S]*division by zero[\s\S]*direct cause[\s\S]*Cell 1, line 4\n[\s\S]*ValueError: outer/,
  )
  if ((await kernel.value('import sys; sys.version_info >= (3, 11)')) === 'True') {
    const group = await kernel.run('raise ExceptionGroup("both", [ValueError("one"), KeyError("two")])')
    expect(group.error!.traceback).toMatch(
      /Exception Group Traceback[\s\S]*\| {3}?Cell 3, line 1[\s\S]*ValueError: one[\s\S]*KeyError: 'two'/,
    )
  }
})

it('a syntax error points at its place', async ({ kernel }) => {
  const outcome = await kernel.run('x = 1\ny = (2 +')
  expect(outcome).toMatchObject({ status: 'error', error: { name: 'SyntaxError' } })
  expect(outcome.error!.traceback).toMatch(/^ {2}Cell 1, line 2\n {4}y = \(2 \+\n {8}\^\nSyntaxError: /)
  // The compiler finds this error, not the parser, so its line must be looked up.
  const late = await kernel.run('x = 5\nreturn x')
  expect(late.error!.traceback).toMatch(/Cell 2, line 2\n {4}return x\n/)
  expect(await kernel.run('x')).toMatchObject({ status: 'error', error: { name: 'NameError' } })
  expect((await kernel.run('a = "\0"')).error!.name).toMatch(/ValueError|SyntaxError/)
  expect((await kernel.run('('.repeat(3000))).error!.name).toMatch(/SyntaxError|MemoryError|RecursionError/)
})

it('an error of endless recursion is short and keeps the variables', async ({ kernel }) => {
  const one = await kernel.run('def f(n): return f(n + 1)\nf(0)')
  expect(one.error!.name).toBe('RecursionError')
  expect(one.error!.traceback).toMatch(/Previous line repeated \d+ more times/)
  const many = await kernel.run('def a(): b()\ndef b(): c()\ndef c(): a()\na()')
  expect(many.error!.traceback).toMatch(/… the 3 frames above repeat \d+ more times …/)
  // The order of the calls (the Thue–Morse sequence) never repeats three times.
  const next = '(a if bin(n).count("1") % 2 else b)(n + 1)'
  const irregular = await kernel.run(`def a(n): ${next}\ndef b(n): ${next}\na(0)`)
  expect(irregular.error!.traceback).toMatch(/… \d+ frames left out …/)
  expect(irregular.error!.traceback.split('\n').length).toBeLessThan(260)
  expect(await kernel.value('1')).toBe('1')
})

it('an error can be of any class', async ({ kernel }) => {
  expect(await kernel.run('raise SystemExit')).toMatchObject({ status: 'ok' })
  expect(await kernel.run('import sys; sys.exit(0)')).toMatchObject({ status: 'ok' })
  expect(await kernel.run('exit(3)')).toMatchObject({ status: 'error', error: { name: 'SystemExit', message: '3' } })
  expect(await kernel.run('sys.exit("bad")')).toMatchObject({ error: { name: 'SystemExit', message: 'bad' } })
  expect(await kernel.run('await __import__("asyncio").sleep(0); sys.exit("bad")')).toMatchObject({
    error: { name: 'SystemExit', message: 'bad' },
  })
  expect(await kernel.run('raise BaseException("base")')).toMatchObject({ error: { name: 'BaseException' } })
  expect(await kernel.run('raise GeneratorExit')).toMatchObject({ error: { name: 'GeneratorExit' } })
  const mute = 'class E(Exception):\n  def __str__(self): raise self\n  __repr__ = __str__\nraise E'
  expect(await kernel.run(mute)).toMatchObject({ status: 'error', error: { name: 'E' } })
  const huge = await kernel.run('raise ValueError("\\u20ac" * 12_000_000)')
  expect(huge).toMatchObject({ status: 'error', error: { name: 'ValueError' } })
  expect(await kernel.value('"alive"')).toBe("'alive'")
})

it('variables are kept from cell to cell, in a real __main__', async ({ kernel }) => {
  await kernel.run(
    'from __future__ import annotations\nimport pickle, asyncio\nclass C: pass\ndef f(x: Undefined): return x',
  )
  expect(await kernel.value('type(pickle.loads(pickle.dumps(C()))) is C, pickle.loads(pickle.dumps(f)) is f')).toBe(
    '(True, True)',
  )
  expect(await kernel.value('def g(x: AlsoUndefined): return 7\ng(0)')).toBe('7')
  expect(await kernel.value('import __main__\n__main__.C is C and __name__')).toBe("'__main__'")
  expect(await kernel.value('import inspect\ninspect.getsource(f)')).toContain('def f(x: Undefined)')
})

it('the event loop is kept from cell to cell', async ({ kernel }) => {
  await kernel.run(
    'import asyncio, contextvars\nq = asyncio.Queue(1)\nawait q.put(1)\nlock = asyncio.Lock()\nawait lock.acquire()',
  )
  expect(await kernel.value('lock.release()\nasync with lock: pass\nawait q.get()')).toBe('1')
  // Without top-level await, a cell may run its own loops, and the session's loop still exists afterwards.
  expect(
    await kernel.value('async def main():\n    await asyncio.sleep(0.001)\n    return 5\nasyncio.run(main())'),
  ).toBe('5')
  expect(await kernel.value('await q.put(2)\nawait q.get()')).toBe('2')
  expect(await kernel.value('asyncio.get_event_loop().run_until_complete(main())')).toBe('5')
  expect(await kernel.value('await asyncio.to_thread(lambda: 6)')).toBe('6')
  const code = "p = await asyncio.create_subprocess_exec('echo', 'hi', stdout=-1)\n(await p.communicate())[0]"
  expect(await kernel.value(code)).toBe("b'hi\\n'")
})

it('variables survive a cell that breaks sys.stdout or closes the loop', async ({ kernel }) => {
  await kernel.run('import sys, io, asyncio\nsys.stdout = io.StringIO()\nsys.stderr = None')
  expect((await kernel.run('print("seen")')).stdout).toBe('seen\n')
  await kernel.run('sys.stdout.close(); sys.stderr.close()')
  expect((await kernel.run('print("seen")')).stdout).toBe('seen\n')
  await kernel.run('asyncio.get_event_loop().close()')
  expect(await kernel.value('await asyncio.sleep(0, 3)')).toBe('3')
})

it('tasks that a cell leaves behind are cancelled and mentioned', async ({ kernel }) => {
  const code = `
import asyncio
async def poll():
    try: await asyncio.sleep(60)
    finally: print('stopped')
t = asyncio.create_task(poll())
await asyncio.sleep(0)
'end'`
  const outcome = await kernel.run(code)
  expect(outcome).toMatchObject({ status: 'ok', value: plain("'end'"), stdout: 'stopped\n' })
  expect(outcome.notes).toEqual([
    '1 background task was cancelled when the cell ended: poll(); await it in the cell that starts it',
  ])
  expect((await kernel.run('t.cancelled()')).notes).toBeUndefined()
})

it('tasks that a cell leaves behind cannot keep it from ending', async ({ kernel }) => {
  const code = `
import asyncio
async def stubborn():
    while True:
        try: await asyncio.sleep(60)
        except asyncio.CancelledError: pass
t = asyncio.create_task(stubborn())
await asyncio.sleep(0)`
  const outcome = await kernel.run(code)
  expect(outcome.status).toBe('ok')
  expect(outcome.notes![1]).toMatch(/did not stop/)
  expect(await kernel.run('await asyncio.sleep(0)\n1')).not.toHaveProperty('notes')
})

it('a gather that a cell does not await is not reported in a later cell, and other exceptions of the loop are', async ({
  kernel,
}) => {
  const first = await kernel.run('import asyncio\ng = asyncio.gather(asyncio.sleep(60), asyncio.sleep(60))')
  expect(first.notes).toEqual([expect.stringMatching(/^2 background tasks were cancelled/)])
  expect((await kernel.run('g = None\nprint("innocent")')).stderr).toBe('')
  await kernel.run('f = asyncio.get_event_loop().create_future()\nf.set_exception(ValueError("lost"))')
  expect((await kernel.run('f = None')).stderr).toMatch(/exception was never retrieved[^]*ValueError: lost/)
})

it('a coroutine that is never awaited is warned about', async ({ kernel }) => {
  const { stderr } = await kernel.run('async def f(): pass\nf(); None')
  expect(stderr).toContain("coroutine 'f' was never awaited")
})

it('a forked child neither answers for its parent nor breaks the frames', async ({ kernel }) => {
  const code = `
import os
print('parent first')
pid = os.fork()
if pid: os.waitpid(pid, 0)
print('parent' if pid else 'child')`
  const outcome = await kernel.run(code)
  expect(outcome.status).toBe('ok')
  expect(outcome.stdout.split('\n').toSorted()).toEqual(['', 'child', 'parent', 'parent first'])
  expect(kernel.badLines).toEqual([])
  expect(
    await kernel.value(
      'import multiprocessing as m\nwith m.get_context("fork").Pool(2) as p: r = p.map(abs, [-1, -2])\nr',
    ),
  ).toBe('[1, 2]')
  expect(await kernel.value('2')).toBe('2')
})

it('a cell is warned of what an earlier one was warned of, once', async ({ kernel }) => {
  await kernel.run('import warnings\ndef old(): warnings.warn("old")')
  for (const code of ['old(); old()', 'old()'])
    expect((await kernel.run(code)).stderr.match(/UserWarning: old/g), code).toHaveLength(1)
})

it('an async generator that a cell leaves before its end runs its last part, unmentioned', async ({ kernel }) => {
  const code = 'async def two():\n  try: yield 1; yield 2\n  finally: print("closed")\nasync for x in two(): break'
  const { stdout, notes } = await kernel.run(code)
  expect([stdout, notes]).toEqual(['closed\n', undefined])
})

it('a cell imports the module that it or an earlier one has written', async ({ kernel }) => {
  expect(await kernel.value('open("made_here.py", "w").write("V = 1")\nimport made_here\nmade_here.V')).toBe('1')
  const again = 'open("made_here.py", "w").write("V = 2")\nimport importlib\nimportlib.reload(made_here).V'
  expect(await kernel.value(again)).toBe('2')
  expect(await kernel.value('import os\nos.unlink("made_here.py")\n__import__("sys").argv')).toBe("['sandbridge']")
})

it('a cell that takes modules out of Python, or uses their names, leaves the next one as it was', async ({
  kernel,
}) => {
  const options = { servers: GITHUB, onCall: () => ({ value: { content: [{ type: 'text', text: 'called' }] } }) }
  const next =
    'import difflib, json, asyncio, mcp\nfrom mcp.servers.github import ping\n(await asyncio.gather(ping()))[0]'
  for (const code of [
    'import sys; del sys.modules["mcp"], sys.modules["json"]',
    'import sys; sys.modules.clear()',
    'import sys; sys.modules.clear(); 1 / 0',
    'import sys; sys.modules = {}',
    'mcp = json = asyncio = sys = runtime = 1',
    'for name in ("json", "mcp", "difflib"):\n    open(name + ".py", "w").write("raise SystemError(name)")',
  ]) {
    await kernel.run(code, options)
    expect(await kernel.value(next, options), code).toBe("'called'")
    expect((await kernel.run('import pandaz', options)).error?.hint).toContain('pandaz is not in this sandbox')
  }
  await kernel.run('import os\nfor name in ("json", "mcp", "difflib"): os.unlink(name + ".py")')
})

it('a cell without await starts tasks, and a later one that awaits them reads why they are gone', async ({
  kernel,
}) => {
  const code = `
import asyncio
async def job(n):
    await asyncio.sleep(0)
    return n
def start(n): return asyncio.create_task(job(n))
tasks = [asyncio.create_task(job(1)), asyncio.ensure_future(job(2)), start(3)]
loop = asyncio.get_running_loop()
whole, limit = asyncio.gather(loop.create_task(job(4)), job(5)), asyncio.timeout(5)
loop.create_future().get_loop() is loop`
  const outcome = await kernel.run(code)
  expect([outcome.value?.['text/plain'], outcome.error]).toEqual(['True', undefined])
  expect(outcome.notes).toEqual([
    expect.stringContaining('5 background tasks were cancelled when the cell ended: job()'),
  ])
  for (const later of ['await tasks[0]', 'await tasks[2]', 'await whole'])
    expect((await kernel.run(later)).error).toMatchObject({
      name: 'CancelledError',
      message: 'job() was cancelled when the cell ended that had started it: await it in the cell that starts it',
    })
})

it('a cell without await runs a loop of its own, also by a function that asks first', async ({ kernel }) => {
  const code = `
import asyncio
async def job(): return "ran"
def either():
    try: asyncio.get_running_loop()
    except RuntimeError: return asyncio.run(job())
    return "no"
asyncio.get_event_loop().run_until_complete(job()), asyncio.run(job()), either()`
  expect(await kernel.value(code)).toBe("('ran', 'ran', 'ran')")
  expect(
    (
      await kernel.run(
        'import threading, concurrent.futures as c\nc.ThreadPoolExecutor(1).submit(asyncio.get_running_loop).result()',
      )
    ).error?.name,
  ).toBe('RuntimeError')
})

it('a forked child that reaches the end of a cell exits as a program does, and its error is shown', async ({
  kernel,
}) => {
  const child = (code: string, before = '') =>
    kernel.run(`${before}
import os, sys
pid = os.fork()
if pid == 0: ${code}
os.waitpid(pid, 0)[1] >> 8`)
  for (const [code, status, text] of [
    ['sys.exit(3)', '3', ''],
    ['sys.exit()', '0', ''],
    ['sys.exit("bad")', '1', 'bad\n'],
  ] as const)
    expect(await child(code), code).toMatchObject({ stderr: text, value: { 'text/plain': status } })
  const failed = await child('raise ValueError("lost?")', 'import asyncio\nawait asyncio.sleep(0)')
  expect(failed.value).toEqual({ 'text/plain': '1' })
  expect(failed.stderr).toMatch(/^Traceback[^]*Cell 4, line 5[^]*ValueError: lost\?\n$/)
})

it('what the functions of a failed cell have in hand is freed with the cell', async ({ kernel }) => {
  await kernel.run(`import asyncio, gc, weakref
gc.disable()
class Big: pass
def fail():
    big = Big()
    weakref.finalize(big, print, "freed")
    raise ValueError
async def fails(): fail()`)
  for (const code of ['fail()', 'await fails()', 'await asyncio.gather(fails())'])
    expect(await kernel.run(code), code).toMatchObject({ status: 'error', stdout: 'freed\n' })
})

it('a cell that closes descriptor 0 leaves the next one with an empty stdin', async ({ kernel }) => {
  expect(await kernel.value('open(0).read()')).toBe("''")
  expect(await kernel.value('file = open("/proc/self/stat"); file.fileno() > 2')).toBe('True')
  const child = await kernel.run('import subprocess; subprocess.run(["cat"]).returncode')
  expect(child).toMatchObject({ stderr: '', value: { 'text/plain': '0' } })
})

it('input reads what a cell has put in place of stdin', async ({ kernel }) => {
  const code = 'import io, sys\nsys.stdin = io.StringIO("Bob\\n42\\nlast")\n[input("Name? "), input(), input(5)]'
  expect(await kernel.run(code)).toMatchObject({ stdout: 'Name? 5', value: { 'text/plain': "['Bob', '42', 'last']" } })
})
