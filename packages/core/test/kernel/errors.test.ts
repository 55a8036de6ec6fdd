// This file verifies what an error has besides its traceback and values: a hint.
import { expect } from 'vitest'
import { GITHUB, startKernel, it } from './drive.ts'
import { skip } from '../support/suite/needs.ts'

it('a hint is given for errors that have one', async ({ kernel }) => {
  const hint = async (code: string) => (await kernel.run(code, { servers: GITHUB })).error!.hint
  expect(await hint('async def f(): return {}\nr = f()\nr["x"]')).toMatch(/write `await` before the call/)
  expect(await hint('r.number')).toMatch(/await/)
  for (const code of ['"a" + r', 'open("/dev/null", "w").write(r)', 'import json\njson.dumps(r)', 'len(r)'])
    expect(await hint(code), code).toMatch(/write `await` before the call/)
  expect(await hint('import asyncio\nasyncio.ensure_future(5)')).toBeUndefined()
  expect(await hint('import asyncio\nawait asyncio.sleep(0)\nasyncio.run(asyncio.sleep(0))')).toMatch(/await main\(\)/)
  expect(await hint('import no_such_module_anywhere.sub')).toMatch(
    /no_such_module_anywhere is not in this sandbox.*`sandbridge packages add no_such_module_anywhere`/,
  )
  expect(await hint('1 / 0')).toBeUndefined()
})

it.for([
  ['"text"', '["content"][0]["text"]'],
  ['[1]', "['content']"],
  ['await mcp_github.get()', '["structuredContent"]'],
  ['await mcp_github.get()', '.content'],
  ['None', '["content"]'],
  ['"text"', '.get("isError")'],
  ['"text"', '.content'],
] as const)(
  'a hint says what to write where a value is taken for an MCP result: %s',
  async ([value, index], { kernel }) => {
    const hint = async (code: string) => {
      const onCall = () => ({ value: { content: [], structuredContent: { a: 1 } } })
      return (await kernel.run(code, { servers: GITHUB, onCall })).error!.hint ?? ''
    }
    expect(await hint(`r = ${value}\nr${index}`)).toMatch(/value itself.*raw=True/)
    expect(await hint(`r = ${value}\nr["other"] + len(r)`)).not.toMatch(/raw=True/)
  },
)

it('a hint about MCP results is not given for a dict of the cell itself', async ({ kernel }) => {
  for (const code of ['data = {"a": 1}\ndata["content"]', 'def f(one): return one["content"]\nf({})'])
    expect((await kernel.run(code)).error!.hint, code).toBeUndefined()
})

it('a hint about files of the host is not given in a mounted folder, only where every system has folders', async ({
  kernel,
}) => {
  // Stands for a sandbox that has these folders.
  const folders = '"/mnt/reports", "/data", "/mnt", "/home", "/home/me", "/etc", "/var/log", "/", "/root"'
  await kernel.run(`import os\nos.path.isdir = lambda path: path in (${folders})`)
  const hint = async (path: string) => (await kernel.run(`open("${path}")`)).error!.hint
  for (const path of ['/mnt/reports/no-such.csv', '/mnt/reports/2024/no-such.csv', '/data/no-such.csv'])
    expect(await hint(path), path).toBeUndefined()
  for (const name of ['', 'mnt/', 'mnt/other/', 'home/me/', 'etc/', 'var/log/', 'root/', 'no-such/'])
    expect(await hint(`/${name}no-such.csv`), name).toMatch(/no files of the host/)
})

it('a hint about the network and about files of the host has words to search for', async ({ kernel }) => {
  const told = async (code: string) => (await kernel.run(code)).error!
  const network = await told('import urllib.error\nraise urllib.error.URLError("https://api.github.com/repos")')
  expect(network.hint).toMatch(/no network/)
  expect(network.search).toBe('fetch web page url github')
  const caused = `
class ConnectError(Exception): pass
try: raise OSError(101, 'Network is unreachable')
except OSError as e: raise RuntimeError('request failed') from e`
  expect((await told(caused)).hint).toMatch(/no network/)
  expect((await told('open("/Users/me/notes.txt")')).search).toMatch(/read file/)
  expect((await told('open("C:\\\\Users\\\\me.txt")')).hint).toMatch(/no files of the host/)
  expect((await told('open("/tmp/not-there")')).hint).toBeUndefined()
  expect((await told('open("not-there")')).hint).toBeUndefined()
})

it('a hint about the network is given for what sockets answer in every sandbox, and for nothing else', async ({
  kernel,
}) => {
  const hint = async (code: string) => (await kernel.run(`import errno, os\n${code}`)).error!.hint
  // Sandboxes that forbid sockets raise these; nothing is sent here.
  const forbidden = 'def connect(to): raise PermissionError(errno.EPERM, "Operation not permitted")\n'
  expect(await hint(`${forbidden}connect(("192.0.2.1", 80))`)).toMatch(/no network/)
  expect(await hint('import socket\nsocket.socket(99, 1)')).toMatch(/no network/)
  expect(await hint('import socket\nsocket.create_connection(("127.0.0.1", 1), 2)')).toMatch(/no network/)
  expect(await hint('import asyncio\nawait asyncio.open_connection("127.0.0.1", 1)')).toMatch(/no network/)
  expect(
    await hint('import http.client\nhttp.client.HTTPConnection("127.0.0.1", 1, timeout=2).request("GET", "/")'),
  ).toMatch(/no network/)
  expect(await hint('raise OSError(errno.EHOSTUNREACH, "Host is unreachable")')).toMatch(/no network/)
  // As in the embedded sandbox.
  expect(await hint('def bind(x): raise OSError(errno.ENOTSUP, "Not supported")\nbind(1)')).toMatch(/no network/)
  const resolves = 'def create_connection(): raise RuntimeError("can\'t start new thread")'
  expect(await hint(`exec(compile(${JSON.stringify(resolves)}, "asyncio/x.py", "exec"))\ncreate_connection()`)).toMatch(
    /no network/,
  )
  expect(
    await hint(
      'raise OSError("Multiple exceptions: [Errno %d] a, [Errno %d] b" % (errno.ENETUNREACH, errno.ENETUNREACH))',
    ),
  ).toMatch(/no network/)
  expect(await hint('raise PermissionError(errno.EPERM, "Operation not permitted")')).toBeUndefined()
})

it('a hint names the package of time zones, where the sandbox has none', async ({ kernel }) => {
  const bad = (await kernel.run('import zoneinfo, sys\nsys.modules["tzdata"] = None\nzoneinfo.ZoneInfo("No/Zone")'))
    .error!
  expect(bad.name).toBe('ZoneInfoNotFoundError')
  // The embedded sandbox has no files of time zones.
  const { error } = await kernel.run('zoneinfo.reset_tzpath([])\nzoneinfo.ZoneInfo("Europe/Berlin")')
  expect(error!.hint).toMatch(/^This sandbox has no time zones\. .*`sandbridge packages add tzdata`/)
  // With the package, only the name is wrong.
  await kernel.run('import types\nsys.modules["tzdata"] = types.ModuleType("tzdata")')
  expect((await kernel.run('zoneinfo.ZoneInfo("No/Zone")')).error!.hint).toBeUndefined()
})

it('a hint names the alternative to a missing module, a program or a home folder', async ({ kernel }) => {
  const told = async (code: string) => (await kernel.run(code)).error!
  expect((await told('import jsonn')).hint).toMatch(
    /^Did you mean json\? jsonn is not in this sandbox\..*sandbridge packages add/,
  )
  for (const path of ['~/x.csv', '$HOME/x.csv', 'file:///x.csv', '/mnt/data/x.csv']) {
    expect((await told(`open("${path}")`)).hint, path).toMatch(/no files of the host/)
  }
  expect((await told('import os\nopen(os.path.expanduser("~/not-there.csv"))')).hint).toMatch(/no files of the host/)
  expect((await told('import subprocess\nsubprocess.run(["no-such-program"])')).hint).toMatch(
    /no program no-such-program.*in Python/,
  )
  const ended = (command: string, status = 1) =>
    told(`import subprocess\nraise subprocess.CalledProcessError(${status}, ${command})`)
  expect((await ended('["curl", "https://a.b"]', 6)).search).toMatch(/fetch web page/)
  expect((await ended('"cd /tmp && wget https://a.b"', 4)).hint).toMatch(/no network/)
  expect((await ended('["git", "clone", "https://a.b/c"]', 128)).search).toMatch(/git repository/)
  expect((await ended('"git status"', 128)).hint).toBeUndefined()
  expect((await ended('["/usr/bin/python3", "-m", "pip", "install", "x"]')).hint).toMatch(/sandbridge packages add/)
  expect((await ended('["false"]')).hint).toBeUndefined()
  const embedded = 'OSError(138, "emscripten does not support processes.")'
  expect((await told(`raise ${embedded}`)).hint).toMatch(/No program can be started/)
})

it.each([
  ["f-string: expecting '}'", 'print(f"{", ".join(a)}")', /Python 3\.9: .*quotes of an f-string/],
  ["f-string: unmatched '['", "f'{a['b']}'", /quotes of an f-string/],
  ["f-string: expecting '}'", "f'{a'", /^$/],
  ['f-string expression part cannot include a backslash', `f"{'\\n'.join(a)}"`, /no backslash/],
  ['invalid syntax', 'type Number = int', /without `type`/],
  ['expected "("', 'def first[T](a: T): ...', /TypeVar/],
  ['invalid syntax', 'x = t"{a}"', /no t-strings/],
  ['invalid syntax', 'x = = 1', /^$/],
])('a hint says what an older Python cannot read: %s, %s', async (message, line, hint) => {
  const place = JSON.stringify([message, ['x.py', 1, 1, line]])
  const code = `import sys, json\nsys.version_info = (3, 9, 1)\nraise SyntaxError(*json.loads(${JSON.stringify(place)}))`
  expect((await (await startKernel()).run(code)).error!.hint ?? '').toMatch(hint)
})

it.each([
  ['ls', /`!ls`/],
  ['Out[3]', /as `_`.*runtime\.output\(3\)/],
  ['__', /as `_`/],
  ['{"a": null}', /In Python it is None/],
  ['from google.colab import drive', /^google\.colab is only in Colab/],
  ['from mcp import ClientSession', /not the SDK/],
  ['from mcp.client.stdio import stdio_client', /not the SDK/],
  ['__file__', /Path\.cwd\(\) is its folder/],
  ['In [1]: x = 1', /prompts and the outputs out/],
  ['y = 1 &lt; 2', /^Write < as it is/],
  ['python\nprint(1)', /take the word out/],
  ['import asyncio_', /^Did you mean asyncio\? asyncio_ is not/],
  ['import nest_asyncio_', /^nest_asyncio_ is not/],
  ['breakpoint()', /no keyboard for a debugger/],
  ['Inner', /^$/],
  ['from mcp.servers.nope import x', /^(?!.*SDK)/],
])('a hint names the way in a cell for what belongs elsewhere: %s', async (code, hint) => {
  const { error } = await (await startKernel()).run(code, { servers: GITHUB })
  expect(error!.hint ?? '').toMatch(hint)
})

it('a hint is not broken by exceptions with unusual methods', async ({ kernel }) => {
  const code = `
class Odd(FileNotFoundError, RuntimeError, TypeError):
    def __str__(self): raise ValueError
    @property
    def filename(self): raise KeyError
    def __eq__(self, other): raise KeyError
raise Odd`
  expect((await kernel.run(code)).error).toMatchObject({ name: 'Odd' })
})

it('earlier output is read in full and searched', async ({ kernel }) => {
  const whole = `${'filler line\n'.repeat(1000)}ERROR one ${'x'.repeat(1000)}\nlast 🚀`
  const half = 5_000
  const onCall = ({ params }: { params: Record<string, unknown> }) =>
    params['start'] === 0
      ? { value: { text: whole.slice(0, half), next: half } }
      : { value: { text: whole.slice(half) } }
  expect(await kernel.value('len(runtime.output(3)), runtime.output(3)[-6:]', { onCall })).toBe(
    `(${Array.from(whole).length}, 'last 🚀')`,
  )
  const found = String(await kernel.value('runtime.grep(3, "ERROR", context=1)', { onCall }))
  expect(found).toMatch(/^1000: filler line\n1001: ERROR one x{200,300}…\n1002: last 🚀$/)
  expect(await kernel.value('runtime.grep(3, "filler", limit=2)', { onCall })).toBe(
    '1: filler line\n2: filler line\n(998 more; pass a larger limit, or a narrower pattern)',
  )
  expect(await kernel.value('runtime.grep(None, "nothing")', { onCall })).toBe('(no line fits)')
})

it('a data frame or an array on the failing line is shown by its columns or its shape', async ({ kernel }) => {
  const code = `
import sys, types
class DataFrame:
    shape, columns = (1000, 2), ['name', 'price']
class ndarray:
    shape, dtype = (3, 4), 'float64'
class Mine(DataFrame):
    @property
    def columns(self): raise SystemExit
sys.modules['pandas'] = types.SimpleNamespace(DataFrame=DataFrame)
sys.modules['numpy'] = types.SimpleNamespace(ndarray=ndarray)
df, array, mine = DataFrame(), ndarray(), Mine()
df[array, mine]`
  expect((await kernel.run(code)).error!.values).toBe(
    'df = <DataFrame 1000 × 2: name, price>, array = <ndarray (3, 4) of float64>, mine = <Mine>',
  )
})

it('functions that call each other endlessly are shown twice in a traceback', async ({ kernel }) => {
  const { traceback } = (
    await kernel.run('def a(n): return b(n + 1)\ndef b(n):\n    return c(n)\ndef c(n):\n    return a(n)\na(0)')
  ).error!
  expect(traceback).toMatch(/… the 3 frames above repeat \d+ more times …/)
  expect(traceback.split('\n').length).toBeLessThan(40)
  const single = (await kernel.run('def a(n): return a(n + 1)\na(0)')).error!.traceback
  expect(single).toMatch(/Previous line repeated \d+ more times/)
  const few = (await kernel.run('def a(n): return b(n - 1)\ndef b(n): return a(n - 1) if n > 0 else 1 / 0\na(2)'))
    .error!.traceback
  expect(few.match(/in a$/gm)).toHaveLength(2)
})

it('a coroutine of the cell that is not awaited is reported with its place, and one of the kernel never is', async ({
  kernel,
}) => {
  const { stderr } = await kernel.run('async def f(): pass\nf()\n1')
  expect(stderr).toMatch(/^Cell 1:2: RuntimeWarning: coroutine 'f' was never awaited/)
  const late = await kernel.run('async def g(): pass\nx = [g()]\ng()')
  const next = await kernel.run('del x\n1')
  expect(next.stderr).toMatch(/^Cell 2:2: RuntimeWarning: coroutine 'g'/)
  for (const text of [stderr, late.stderr, next.stderr]) expect(text).not.toMatch(/sandbridge|unawaited/)
})

const caught = (code: string) =>
  `def attempt():\n    ${code}\ntry:\n    attempt()\nexcept Exception as error:\n    print(error)\n    kept = error`

it.for([
  [
    'an unknown server',
    'return mcp_gitub.x',
    /^name 'mcp_gitub' is not defined. Did you mean github\? Available: github/,
  ],
  ['an unknown server by subscript', "return mcp_servers['gitub']", /Did you mean github\? Available: github/],
  [
    'a missing module',
    'import nmpy',
    /^No module named 'nmpy'. .*nothing can be installed|^No module named 'nmpy'. nmpy is not in this sandbox/i,
  ],
  [
    'a file of the host',
    "open('/home/someone/data.csv')",
    /^\[Errno 2\] No such file or directory \(The sandbox has no files of the host.*search_tool_docs.*\): '\/home\/someone\/data.csv'/,
  ],
  [
    'the network',
    "raise __import__('socket').gaierror(-3, 'Temporary failure in name resolution')",
    /The sandbox has no network/,
  ],
  [
    'the network, inside of another',
    "raise __import__('urllib.error').error.URLError(__import__('socket').gaierror(-3, 'Temporary failure'))",
    /^<urlopen error .*The sandbox has no network/,
  ],
] as const)('an exception that a cell catches says what to do: %s', async ([, code, expected], { kernel }) => {
  expect((await kernel.run(caught(code), { servers: GITHUB })).stdout).toMatch(expected)
})

it('an exception that a cell catches keeps its class and attributes, and has its hint once when it is raised on', async ({
  kernel,
}) => {
  await kernel.run(caught("open('/home/someone/x')"))
  expect(await kernel.value('type(kept).__name__, kept.errno, kept.filename')).toBe(
    "('FileNotFoundError', 2, '/home/someone/x')",
  )
  const { error } = await kernel.run("try:\n    open('/home/a')\nexcept OSError:\n    raise")
  expect(error!.traceback.match(/no files of the host/g)).toHaveLength(1)
  expect(error!.hint).toBeUndefined()
  expect(error!.search).toBe('read file from file system')
})

it('an exception that a cell catches is unchanged when there is no hint', async ({ kernel }) => {
  expect((await kernel.run(caught('return 1 / 0'))).stdout).toBe('division by zero\n')
  expect((await kernel.run(caught("return {}['key']"))).stdout).toBe("'key'\n")
  expect((await kernel.run("try: 1/0\nexcept: print('bare')")).stdout).toBe('bare\n')
  const traceback = (await kernel.run('try:\n    1/0\nexcept ZeroDivisionError as error:\n    none + 1')).error!
    .traceback
  expect(traceback).not.toContain('advise')
  expect(traceback).toContain('line 4')
})

it('a NameError says why variables of earlier cells are gone', async ({ kernel }) => {
  expect((await kernel.run('df')).error!.hint).toBeUndefined()
  // A code that it does not know says nothing.
  kernel.lost = 'unheard of'
  expect((await kernel.run('df')).error!.hint).toBeUndefined()
  kernel.lost = 'reset'
  expect((await kernel.run('df')).error!.hint).toMatch(/earlier cell has defined it: the session was reset/)
  kernel.lost = undefined
  expect((await kernel.run('try: df\nexcept NameError as e: print(e)')).stdout).toMatch(
    /^name 'df' is not defined. .*the session was reset/,
  )
})

it('a failed import of a configured package says why the package is missing', async ({ kernel }) => {
  kernel.missing = [
    { name: 'No-Such.Package', reason: 'no network' },
    { name: 'other', reason: 'damaged' },
  ]
  expect((await kernel.run('import no_such_package.sub')).error!.hint).toMatch(
    /^no_such_package is not in this sandbox\. It could not be installed: no network\..*`sandbridge packages`/,
  )
  // The control: the reason belongs to that package alone.
  expect((await kernel.run('import no_such_other')).error!.hint).toMatch(/`sandbridge packages add no_such_other`/)
})

it('a failed import of a name that cells have says so, and names no package to install', async ({ kernel }) => {
  const hint = async (code: string) => (await kernel.run(code, { servers: GITHUB })).error!.hint!
  for (const code of ['import runtime', 'from runtime import search_tool_docs'])
    expect(await hint(code), code).toMatch(/^Cells have runtime without an import\..*`from mcp import runtime`/)
  expect(await hint('import mcp_servers')).toMatch(/^Cells have mcp_servers without an import/)
  for (const code of ['import mcp_github', 'from mcp_github import ok', 'import mcp_github.ok'])
    expect(await hint(code), code).toBe(
      'Cells have mcp_github without an import: `await mcp_github.TOOL(…)`. ' +
        'To import its tools: `from mcp.servers.github import TOOL`.',
    )
  expect(await hint('import mcp_gihub')).toBe('Did you mean github? Available: github')
  for (const name of ['runtime', 'mcp_servers', 'mcp_github', 'mcp_gihub', 'mcp_anything'])
    expect(await hint(`import ${name}`), name).not.toMatch(/packages/)
  const { stdout } = await kernel.run('try:\n    import mcp_github\nexcept ImportError as error: print(error)')
  expect(stdout).toMatch(/Cells have mcp_github/)
  // What the hints say works.
  const said = 'from mcp import runtime as r\nfrom mcp.servers import github\nfrom mcp.servers.github import ok'
  expect((await kernel.run(said, { servers: GITHUB })).status).toBe('ok')
})

it.for([
  ['a list', '[mcp_github.ok() for _ in "ab"]', /^A list cannot be awaited.*`await asyncio\.gather\(\*calls\)`/],
  ['a tuple', '(mcp_github.ok(), mcp_github.ok())', /^A tuple cannot be awaited.*gather/],
  ['a set', '{mcp_github.ok()}', /^A set cannot be awaited.*gather/],
  ['a generator', '(mcp_github.ok() for _ in "ab")', /^A generator cannot be awaited.*gather/],
  ['a tool', 'mcp_github.ok', /not called: write `await name\(…\)`/],
  ['a function', 'main', /not called: write/],
  ['a method', 'mcp_github.ok.raw', /not called: write/],
  [
    'a plain call',
    'runtime.discovered_servers()',
    /^A list cannot be awaited.*; else remove `await`.*discovered_servers/,
  ],
  ['a value', 'len("")', /^This call is not async; remove `await`/],
] as const)('the hint for an await of %s says what to write', async ([, awaited, expected], { kernel }) => {
  const code = `async def main(): pass\nawait (${awaited})`
  const onCall = () => ({ value: [] })
  expect((await kernel.run(code, { servers: GITHUB, onCall })).error!.hint).toMatch(expected)
})

it('a MemoryError says how the sandbox gets more memory', async ({ kernel }) => {
  const { hint } = (await kernel.run('raise MemoryError')).error!
  expect(hint).toMatch(/smaller pieces.*MCP_BRIDGE_MEMORY, such as 2g/)
  // Only the embedded sandbox, which runs these tests where there is no Python, is not native.
  expect(hint!.includes('native sandbox')).toBe((await kernel.value('__import__("sys").platform')) === "'emscripten'")
  const threads = await kernel.run('raise RuntimeError("can\'t start new thread")')
  expect(threads.error!.hint).toMatch(/as many threads.*MCP_BRIDGE_PIDS/)
})

it('a program that cannot be started for lack of processes says how to make room', async ({ kernel }) => {
  const code = 'import subprocess\ndef full(*a): raise BlockingIOError(11, "Resource temporarily unavailable")'
  const start = 'subprocess.Popen._execute_child = full\nsubprocess.run(["ls"])'
  expect((await kernel.run(`${code}\n${start}`)).error!.hint).toMatch(/as many processes.*from Python.*MCP_BRIDGE_PIDS/)
  // Nothing else that would block.
  expect((await kernel.run('raise BlockingIOError(11, "x")')).error!.hint ?? '').not.toContain('processes')
})

it('threads take little of the memory that a sandbox may have', async ({ kernel }) => {
  if ((await kernel.value('__import__("sys").platform')) === "'emscripten'") skip('the embedded sandbox has no threads')
  expect(await kernel.value('import threading\nthreading.stack_size()')).toBe('1048576')
})

it('the NameError of a server that the run does not name says so', async ({ kernel }) => {
  const run = (code: string) => kernel.run(code, { servers: GITHUB, named: true })
  for (const code of ['mcp_files', 'def f(): mcp_files.x\nf()'])
    expect((await run(code)).error!.hint).toMatch(/not in this call's `servers`: github. Add it there/)
  expect((await run("mcp_servers['files']")).error!.message).toMatch(/not in this call's `servers`: github/)
})

it('a long line in a traceback is cut to the part that failed', async ({ kernel }) => {
  const many = Array.from({ length: 200 }, (_, index) => `n${index}`).join(', ')
  const { traceback } = (await kernel.run(`x = [${many.replaceAll('n', '')}, 1/0, ${many.replaceAll('n', '')}]`)).error!
  const [, place, source, marks] = traceback.split('\n')
  expect([place, source!.length]).toEqual(['  Cell 1, line 1', 4 + 120 + source!.split('…').length - 1])
  // Python 3.10 does not mark the part.
  const hasMarks = (await kernel.value('import sys\nsys.version_info >= (3, 11)')) === 'True'
  if (!hasMarks) return expect(source).toMatch(/^ {4}x = \[0, 1, .*…$/)
  expect(source).toMatch(/^ {4}….*199, 1\/0, 0, .*…$/)
  expect([source!.indexOf('1/0'), marks!.trim()]).toEqual([marks!.indexOf('~^~'), '~^~'])
  const { traceback: whole } = (await kernel.run(`missing(${many})`)).error!
  expect(Math.max(...whole.split('\n').map((line) => line.length))).toBeLessThan(130)
})

it('a traceback names an error of a call as a cell writes it', async ({ kernel }) => {
  const options = { servers: GITHUB, onCall: () => ({ error: { code: 'TOOL_FAILED', message: 'It is full' } }) }
  const { traceback } = (await kernel.run('await mcp_github.x()', options)).error!
  expect(traceback.trimEnd().split('\n').at(-1)).toBe('runtime.ToolError: It is full')
  const { traceback: grouped } = (
    await kernel.run('import asyncio\nasync with asyncio.TaskGroup() as g: g.create_task(mcp_github.x())', options)
  ).error!
  if (grouped.includes('ExceptionGroup')) expect(grouped).toContain('| runtime.ToolError: It is full')
  expect(
    await kernel.value('try:\n    await mcp_github.x()\nexcept runtime.ToolError:\n    caught = 1\ncaught', options),
  ).toBe('1')
})

it('an error of a cell that asks at a keyboard, or spawns a function of its own, says what to write', async ({
  kernel,
}) => {
  const ask = /^A cell has no keyboard: ask the user in the conversation/
  expect((await kernel.run('input("name? ")')).error?.hint).toMatch(ask)
  expect(await kernel.run('exit()')).toMatchObject({ status: 'ok' })
  expect((await kernel.run('input()')).error?.hint).toMatch(ask)
  expect((await kernel.run('import getpass; getpass.getpass()')).error?.hint).toMatch(
    /^A cell has no keyboard\. Put secrets/,
  )
  const spawned = await kernel.run(`
import concurrent.futures, multiprocessing
def work(n): return n
concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")).submit(work, 1).result()`)
  expect(spawned.error?.hint).toMatch(/^Processes that are spawned cannot see.*get_context\("fork"\)/)
})

it('an error says what is written instead where code was meant for a function, a generator or a browser', async ({
  kernel,
}) => {
  const hint = async (code: string) => (await kernel.run(code)).error!.hint
  expect(await hint('x = 5\nreturn x')).toMatch(/no function.*last line is shown/)
  expect(await hint('async def f(): return 1\nsum(await f() for _ in range(2))')).toMatch(/write a list, \[await/)
  for (const name of ['js', 'pyodide.http', 'pyodide_js'])
    expect(await hint(`import ${name}`), name).toMatch(/no browser/)
  expect(await hint('import micropip')).toMatch(/^Nothing can be installed from inside/)
  expect(await hint('import ipywidgets')).toMatch(/^Cells have no widgets/)
})

it('an error of a library without a package that it needs names the package and who can add it', async ({ kernel }) => {
  const hint = async (code: string) => (await kernel.run(code)).error!.hint
  const lacking = (name: string) => new RegExp(`${name} is not in this sandbox.*packages add ${name}\``)
  expect(
    await hint('try: import no_such_table\nexcept ImportError as error: raise ImportError("use pip") from error'),
  ).toMatch(lacking('no_such_table'))
  expect(await hint('raise ImportError("no-such-html not found, please install it")')).toMatch(lacking('no-such-html'))
  expect(await hint('raise AttributeError("The accessor requires no_such_style")')).toMatch(lacking('no_such_style'))
  for (const [module, distribution] of Object.entries({ dotenv: 'python-dotenv', sklearn: 'scikit-learn' }))
    expect(await hint(`raise ModuleNotFoundError("not here", name="${module}")`)).toContain(
      `packages add ${distribution}\``,
    )
  for (const code of [
    'from os import no_such_name',
    'raise ImportError("Please install it or python")',
    'raise AttributeError("no-such-html not found")',
    'raise ValueError("this requires no_such_style")',
  ])
    expect(await hint(code), code).toBeUndefined()
})

it('a failed program says what it has written where only the error knows it', async ({ kernel }) => {
  const hint = async (code: string) => (await kernel.run(`import subprocess\n${code}`)).error!.hint
  const command = '"echo to out; echo why >&2; exit 3", shell=True'
  expect(await hint(`subprocess.run(${command}, check=True, capture_output=True, text=True)`)).toBe('It wrote: why')
  expect(await hint(`subprocess.check_output(${command})`)).toBe('It wrote: to out')
  expect(await hint(`subprocess.run(${command}, check=True)`)).toBeUndefined()
})

it('a program that cannot install a package leaves a note on how packages are added', async ({ kernel }) => {
  const run = (said: string) => kernel.run(`import os\nos.system("echo '${said}' >&2")`)
  for (const said of ['/usr/bin/python3: No module named pip', 'sh: 1: pip: not found'])
    expect((await run(said)).notes, said).toEqual([expect.stringMatching(/^Nothing can be installed from inside/)])
  expect((await run('/usr/bin/python3: No module named pipeline')).notes).toBeUndefined()
})
