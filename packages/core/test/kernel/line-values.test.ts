// This file verifies the values of names on a failing line: never a secret, and no code of the cell is run for them.
import { expect } from 'vitest'
import { it } from './drive.ts'
import { skip } from '../support/suite/needs.ts'

it('values on the failing line are those of its names, shortened', async ({ kernel }) => {
  const values = async (code: string) => (await kernel.run(code)).error!.values
  expect(await values('items, count = {"x": 3}, 0\nitems["x"] / count')).toBe("items = {'x': 3}, count = 0")
  expect(await values('def f(n, text):\n    return text + n\nf(7, "t" * 1000)')).toMatch(
    /^text = 't{50}'… \(1,000 characters\), n = 7$/,
  )
  expect(await values('big = list(range(10_000))\nbig[99_999]')).toBe('big = [0, 1, 2, 3, … 10,000 items]')
  expect(await values('n = 10 ** 5000\nn.bit_length(1)')).toBe('n = <int of 16610 bits>')
  expect(await values('a=b=c=d=e=f=g=h=1\n(a, b, c, d, e, f, g, h)[9]')).toBe(
    'a = 1, b = 1, c = 1, d = 1, e = 1, f = 1',
  )
  expect(await values('r = [[[[1]]]]\nr.x')).toBe('r = [[[… 1 items]]]')
  expect(await values('"count" + 1')).toBeUndefined()
  expect(await values('n = 1\nn + no_such_name'), 'the name is wrong, not a value').toBeUndefined()
  expect(await values('name = "m"\nfrom no_such_module import name')).toBeUndefined()
})

it('values on the failing line are never secrets', async ({ kernel }) => {
  const code = `
api_key = password = AUTH = my_token = cookie = 'SECRET'
headers = {'Authorization': 'SECRET', 'Accept': 'x', 'x-api-key': 'SECRET'}
plain = 'Bearer SECRET'
other = ['ghp_SECRET', {'password': 'SECRET'}, b'sk-SECRET']
(api_key, password, AUTH, my_token, cookie, headers, plain, other)[99]`
  const { values } = (await kernel.run(code)).error!
  expect(values).toContain("'Accept': 'x'")
  expect(values).toContain("'Authorization': <hidden>")
  expect(values).not.toContain('SECRET')
})

it.for([
  [
    'names',
    "pw = 'hunter2'; pwd = 'hunter2'; passphrase = 'hunter2'; dbPass = 'hunter2'; creds = ('u', 'hunter2')\n(pw, pwd, passphrase, dbPass, creds).x",
  ],
  // Each alone: a value that is hidden once is hidden everywhere.
  ['a name that may be one', "api = 'hunter2'\n(api,).x"],
  ['another name that may be one', "key = 'hunter2'\n(key,).x"],
  [
    'forms',
    "a = 'hf_hunter2'; b = 'npm_hunter2'; c = 'rk_live_hunter2'; d = 'glpat-hunter2'; e = 'xoxp-hunter2'; f = 'AIzahunter2'\n(a, b, c, d, e, f).x",
  ],
  [
    'addresses',
    "url = 'postgres://user:hunter2@db/x'; odd = 'redis://:hunter2/x@db'; query = 'https://a.b/c?token=hunter2&page=2'\n(url, odd, query).x",
  ],
  [
    'pairs',
    "pairs = [('password', 'hunter2'), ['x-api-key', 'hunter2']]; argv = ['psql', '--password', 'hunter2']\n(pairs, argv).x",
  ],
  [
    'data',
    "a = {'db': {'password': 'hunter2'}}; b = [{'name': 'Authorization', 'value': 'hunter2'}]; c = {b'token': b'hunter2'}\n(a, b, c).x",
  ],
  [
    'text',
    `dsn = 'host=db password=hunter2'; text = '{"api_key": "hunter2", "n": 1}'; raw = b'Authorization: Basic hunter2'\n(dsn, text, raw).x`,
  ],
  ['another name', "pw = 'hunter2'\ndef connect(p, dsn, some): return p.x + dsn + some\nconnect(pw, 'db:' + pw, [pw])"],
  ['a caller', "def connect(p): return p.x\ndef main():\n    secret = 'hunter2'\n    connect(secret)\nmain()"],
  [
    'data of a caller',
    "config = {'db': {'password': 'hunter2'}}\ndef connect(p, n): return p.x, n\nconnect(config['db']['password'], 0)",
  ],
  [
    'an object of a caller',
    "class Config:\n    def __init__(self): self.password = 'hunter2'\nconfig = Config()\ndef connect(p): return p.x\nconnect(config.password)",
  ],
])('values on the failing line are never secrets: %s', async ([, code], { kernel }) => {
  const { error } = await kernel.run(code!)
  expect(error!.name).toBe('AttributeError')
  expect(error!.values ?? '').not.toContain('hunter2')
})

it('values on the failing line are readable unless they are secrets', async ({ kernel }) => {
  const values = async (code: string) => (await kernel.run(code)).error!.values
  expect(
    await values(
      "key = 'user_name'; sort_key = 'col_1'; monkey = 'm1nk33y'; author = 'Ann'\n(key, sort_key, monkey, author).x",
    ),
  ).toBe("key = 'user_name', sort_key = 'col_1', monkey = 'm1nk33y', author = 'Ann'")
  expect(
    await values(
      "api = 'https://a.b/v1'; max_tokens = 500; password = ''; token = None; private = True\n(api, max_tokens, password, token, private).x",
    ),
  ).toBe("api = 'https://a.b/v1', max_tokens = 500, password = '', token = None, private = True")
  expect(
    await values(
      "url = 'http://h:80/a@b?page=2'; mail = 'me@a.b'; when = '2024-01-01T00:00:00.000Z'; task = 'task-force'\n(url, mail, when, task).x",
    ),
  ).toBe("url = 'http://h:80/a@b?page=2', mail = 'me@a.b', when = '2024-01-01T00:00:00.000Z', task = 'task-force'")
  expect(
    await values("row = ('name', 'Ann'); d = {'id': 'a1b2c3', 'key': 'PROJ-12'}; b = b'bytes1'\n(row, d, b).x"),
  ).toBe("row = ('name', 'Ann'), d = {'id': 'a1b2c3', 'key': 'PROJ-12'}, b = b'bytes1'")
  expect(
    await values(
      "sha = 'da39a3ee5e6b4b0d3255bfef95601890afd80709'; name = 'abcdefghijklmnopqrstuvwxyz0123'\n(sha, name).x",
    ),
  ).toBe("sha = 'da39…0709', name = 'abcdefghijklmnopqrstuvwxyz0123'")
  expect(await values("url = 'postgres://user:hunter2@db/x'\nurl.x")).toBe("url = 'postgres://<hidden>@db/x'")
})

it('values on the failing line are not taken from another variable of the same name', async ({ kernel }) => {
  const values = async (code: string) => (await kernel.run(code)).error!.values ?? ''
  for (const failing of [
    '[row["missing"] for row in [{"id": 2}]]',
    '{row["missing"]: 1 for row in [{"id": 2}]}',
    'list(row["missing"] for row in [{"id": 2}])',
    '(lambda row: row["missing"])({"id": 2})',
    '[[row["missing"] for row in rows] for rows in [[{"id": 2}]]]',
    '[\n  row["missing"]\n  for row in [{"id": 2}]\n]',
    'def f():\n    return [row["missing"] for row in [{"id": 2}]]\nf()',
    'def f(): return [row["missing"] for row in [{"id": 2}]]\nf()',
    'def f():\n    for row in {}["missing"] or row: pass\nf()',
  ]) {
    expect(await values(`row = {"id": 1}\n${failing}`), failing).not.toContain("{'id': 1}")
  }
  // An inner frame shows its own variables, and a variable beside a comprehension is unchanged.
  expect(await values('row = {"id": 1}\n(lambda row: row["missing"])({"id": 2})')).toBe("row = {'id': 2}")
  expect(await values('n = 0\ndef f(n): return 1 / n + n["x"]\nf(5)')).toBe('n = 5')
  expect(await values('wanted = "x"\n[row[wanted] for row in [{"id": 2}]]')).toContain("wanted = 'x'")
})

it('values for an exception group are those of the one error in it, and there are none for several errors', async ({
  kernel,
}) => {
  if ((await kernel.value('import sys; sys.version_info >= (3, 11)')) !== 'True') skip('Python 3.10 has no groups')
  const failing = (rows: string) =>
    `import asyncio\nrow = {"id": 1}\nasync def work(row): return row["missing"]\nasync with asyncio.TaskGroup() as group:\n    for one in ${rows}: group.create_task(work(one))`
  expect((await kernel.run(failing('[{"id": 2}]'))).error!.values).toBe("row = {'id': 2}")
  expect((await kernel.run(failing('[{"id": 2}, {"id": 3}]'))).error!.values).toBeUndefined()
})

it('values on the failing line run no code of the cell', async ({ kernel }) => {
  const code = `
ran = []
class Meta(type):
    @property
    def __name__(cls): ran.append('meta')
class Nosy(metaclass=Meta):
    __dict__ = property(lambda self: ran.append('dict'))
    def __repr__(self): ran.append('repr')
    def __getattr__(self, name): ran.append(name)
    def __hash__(self): return 1
    def __eq__(self, other): ran.append('eq'); return True
class Text(str):
    def __repr__(self): ran.append('str')
class Items(dict):
    def __iter__(self): ran.append('iter'); return iter(())
nosy, text, items, mixed = Nosy(), Text('x'), Items(), {}
mixed[nosy] = nosy
ran.clear()
(nosy, text, items, mixed)[9]`
  const { error } = await kernel.run(code)
  expect(error!.values).toBe('nosy = <Nosy>, text = <Text>, items = <Items>, mixed = {<Nosy>: …}')
  expect(await kernel.value('ran')).toBe('[]')
})
