// What an error tells besides its traceback: values on the failing line, and what to do about it. Never a secret, never code of the cell's own.
import { describe, expect, it } from 'vitest'
import { GITHUB, startKernel } from './drive.ts'

describe('values on the failing line', () => {
  it('are those of its names, shortened', async (ctx) => {
    const kernel = await startKernel(ctx)
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
    expect(await values('no_such_name')).toBeUndefined()
  })

  it('are never secrets', async (ctx) => {
    const kernel = await startKernel(ctx)
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

  it('run no code of the cell', async (ctx) => {
    const kernel = await startKernel(ctx)
    const code = `
ran = []
class Meta(type):
    @property
    def __name__(cls): ran.append('meta')
class Nosy(metaclass=Meta):
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
})

describe('a hint', () => {
  it('is given where one is known', async (ctx) => {
    const kernel = await startKernel(ctx)
    const hint = async (code: string) => (await kernel.run(code, { servers: GITHUB })).error!.hint
    expect(await hint('async def f(): return {}\nr = f()\nr["x"]')).toMatch(/write `await` before the call/)
    expect(await hint('r.number')).toMatch(/await/)
    expect(await hint('import asyncio\nawait asyncio.sleep(0)\nasyncio.run(asyncio.sleep(0))')).toMatch(
      /await main\(\)/,
    )
    expect(await hint('import no_such_module_anywhere.sub')).toMatch(
      /no_such_module_anywhere is not in this sandbox.*MCP_BRIDGE_PACKAGES/,
    )
    expect(await hint('1 / 0')).toBeUndefined()
  })

  it('about the network and about files of the host comes with words to search for', async (ctx) => {
    const kernel = await startKernel(ctx)
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

  it('does not break on exceptions with a mind of their own', async (ctx) => {
    const kernel = await startKernel(ctx)
    const code = `
class Odd(FileNotFoundError, RuntimeError, TypeError):
    def __str__(self): raise ValueError
    @property
    def filename(self): raise KeyError
    def __eq__(self, other): raise KeyError
raise Odd`
    expect((await kernel.run(code)).error).toMatchObject({ name: 'Odd' })
  })
})

it('earlier output is read in full and searched', async (ctx) => {
  const kernel = await startKernel(ctx)
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

it('a data frame or an array on the failing line is told by its columns or its shape', async (ctx) => {
  const kernel = await startKernel(ctx)
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
