// This file verifies how values are shown: Jupyter's conventions, long containers, and libraries that the kernel must
// never load by itself.
import { describe, expect, it } from 'vitest'
import { startKernel } from './drive.ts'

/** Imitates the parts of matplotlib that the kernel uses. */
const FAKE_MATPLOTLIB = `
import sys, types
class Figure:
    dpi = 100
    def __init__(self, size=(6.4, 4.8)): self.size, self.saved = size, []
    def get_size_inches(self): return self.size
    def savefig(self, stream, format, dpi):
        self.saved.append(dpi)
        stream.write(b'\\x89PNG' + str(self.size).encode())
    def __repr__(self): return '<Figure>'
class Line2D: pass
Figure.__module__, Line2D.__module__ = 'matplotlib.figure', 'matplotlib.lines'
figures = {}
plt = types.ModuleType('matplotlib.pyplot')
plt.get_fignums = lambda: list(figures)
plt.figure = lambda number: figures[number]
plt.close = lambda what: figures.clear()
sys.modules['matplotlib.figure'] = types.SimpleNamespace(Figure=Figure)
sys.modules['matplotlib.pyplot'] = plt
None`

const displays = (frames: Record<string, unknown>[]) =>
  frames.flatMap((frame) => (frame['type'] === 'display' ? [frame['data'] as Record<string, string>] : []))

describe('a value', () => {
  it('a value is sent with what its rich methods return, without those that fail', async () => {
    const kernel = await startKernel()
    const rich = `
class Rich:
    def __repr__(self): return 'plain'
    def _repr_markdown_(self): return '**rich**'
    def _repr_png_(self): return b'\\x89PNG'
    def _repr_jpeg_(self): return None
    def _repr_json_(self): return {'a': 1}, {'meta': 'data'}
    def _repr_html_(self): raise RuntimeError('no HTML today')
Rich()`
    expect((await kernel.run(rich)).value).toEqual({
      'text/plain': 'plain',
      'text/markdown': '**rich**',
      'image/png': 'iVBORw==',
      'application/json': { a: 1 },
    })
    const bundle = `
class Bundle:
    def _repr_mimebundle_(self, include=None, exclude=None): return {'text/plain': 'b', 'image/png': 'AAAA'}, {}
display(Bundle(), 7)
type('Answers', (), {'__getattr__': lambda self, name: lambda *a: 'x'})`
    const outcome = await kernel.run(bundle)
    expect(displays(outcome.frames)).toEqual([{ 'text/plain': 'b', 'image/png': 'AAAA' }, { 'text/plain': '7' }])
    expect(Object.keys(outcome.value!)).toEqual(['text/plain'])
  })

  it('a long container is wrapped into lines, at any depth, and remains valid Python', async () => {
    const kernel = await startKernel()
    const code = (value: string) => `import ast\nv = ${value}\nv`
    for (const value of [
      'list(range(1000))',
      '{f"key {i}": {"id": i, "tags": ["a", "b"] * i, "t": ("one",)} for i in range(50)}',
      '[[list(range(100))] * 3, ("x" * 500,), {1, 2}]',
      '[{"a": "line\\nbreak, with, commas", "b": [(i, -i) for i in range(200)]}]',
    ]) {
      const text = String(await kernel.value(code(value)))
      expect(text.split('\n').length).toBeGreaterThan(3)
      expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(520)
      expect(await kernel.value(`ast.literal_eval(${JSON.stringify(text)}) == v`)).toBe('True')
    }
    expect(await kernel.value('[1, 2, 3]')).toBe('[1, 2, 3]')
    expect(String(await kernel.value('a = list(range(100)); a.append(a); a'))).toContain('[...]')
  })

  it('a value whose repr is huge or raises harms nothing', async () => {
    const kernel = await startKernel()
    const make = (body: string) => `type('Odd', (), {'__repr__': lambda self: ${body}})()`
    const huge = String(await kernel.value(make(`'x' * 100_000_000`)))
    expect(huge.length).toBeLessThan(8_000_100)
    expect(huge).toMatch(/x\n… 92,000,000 characters left out …\nx/)
    const raising = await kernel.run(make('1 / 0'))
    expect(raising.error).toMatchObject({ name: 'ZeroDivisionError' })
    const surrogates = await kernel.run(make(`'\\ud800 \\0'`))
    expect(surrogates.value!['text/plain']).toBe('\ud800 \0')
    expect(await kernel.value('1')).toBe('1')
  })

  it('a value is also sent as JSON, when that is asked for and it can be', async () => {
    const kernel = await startKernel()
    const json = async (code: string) => (await kernel.run(code, { json: true })).value!['application/json']
    expect(await json('[{"a": 1}, {"a": None}]')).toEqual([{ a: 1 }, { a: null }])
    expect(await json('(1, 2)')).toEqual([1, 2])
    for (const code of ['7', '"text"', '[object()]', '[float("nan")]', '[]', '["x" * 1_000_000]']) {
      expect(await json(code)).toBeUndefined()
    }
    expect((await kernel.run('[{"a": 1}]')).value).toEqual({ 'text/plain': "[{'a': 1}]" })
  })
})

describe('figures', () => {
  it('open figures are shown and closed when a cell ends, also when it fails', async () => {
    const kernel = await startKernel()
    await kernel.run(FAKE_MATPLOTLIB)
    const outcome = await kernel.run('figures[1], figures[2] = Figure(), Figure((3, 3))\n[Line2D()]')
    expect(displays(outcome.frames).map((data) => Object.keys(data))).toEqual([
      ['text/plain', 'image/png'],
      ['text/plain', 'image/png'],
    ])
    expect(outcome.value).toBeUndefined()
    expect(await kernel.value('len(figures)')).toBe('0')
    const failed = await kernel.run('figures[1] = Figure()\n1 / 0')
    expect([failed.status, displays(failed.frames).length]).toEqual(['error', 1])
  })

  it('figures have no repr beside their picture, as the last value, displayed, or with their axes', async () => {
    const kernel = await startKernel()
    await kernel.run(FAKE_MATPLOTLIB)
    expect((await kernel.run('Figure()')).value).toEqual({ 'text/plain': '', 'image/png': expect.any(String) })
    const displayed = await kernel.run('display(Figure())')
    expect(displays(displayed.frames)).toEqual([{ 'text/plain': '', 'image/png': expect.any(String) }])
    // The return value of plt.subplots().
    const both = await kernel.run('figures[1] = Figure()\nfigures[1], Line2D()')
    expect([both.value, displays(both.frames).length]).toEqual([undefined, 1])
    // Without an open figure, there is no better image.
    expect((await kernel.run('Figure(), Line2D()')).value).toMatchObject({
      'text/plain': expect.stringMatching(/^\(<Figure>, </),
    })
  })

  it('figures are not shown twice when the cell shows them itself', async () => {
    const kernel = await startKernel()
    await kernel.run(FAKE_MATPLOTLIB)
    const displayed = await kernel.run('figures[1] = Figure()\ndisplay(figures[1])')
    expect(displays(displayed.frames).length).toBe(1)
    const value = await kernel.run('figures[1] = Figure()\nfigures[1]')
    expect(Object.keys(value.value!)).toEqual(['text/plain', 'image/png'])
    expect(displays(value.frames)).toEqual([])
  })

  it('figures of 20,000 × 20,000 pixels are drawn smaller, never in full', async () => {
    const kernel = await startKernel()
    await kernel.run(FAKE_MATPLOTLIB)
    await kernel.run('huge = figures[1] = Figure((200, 200))')
    expect(await kernel.value('max(huge.saved) * 200 <= 1568')).toBe('True')
    await kernel.run('small = figures[1] = Figure()')
    expect(await kernel.value('small.saved')).toBe('[100]')
  })

  it('figures are saved with the labels beyond their edges, unless these are far away', async () => {
    const kernel = await startKernel()
    await kernel.run(FAKE_MATPLOTLIB)
    await kernel.run(`
class Labelled(Figure):
    def __init__(self, width):
        super().__init__()
        self.width, self.height = width, 5
    def get_tightbbox(self): return self
    def padded(self, inches): return self
    def savefig(self, stream, format, dpi, bbox_inches=None):
        self.box, self.dots = bbox_inches, dpi
        stream.write(b'PNG')
near, far = Labelled(12), Labelled(1e6)
display(near, far)`)
    expect(await kernel.value('near.box is near, far.box, far.dots')).toBe('(True, None, 100)')
  })

  it('figures never make the kernel load a library that the cell has not loaded', async () => {
    const kernel = await startKernel()
    await kernel.run('display(b"x"); [1]')
    expect(
      await kernel.value(`[m for m in ('matplotlib', 'PIL', 'pandas', 'numpy') if m in __import__('sys').modules]`),
    ).toBe('[]')
    expect(await kernel.value(`__import__('os').environ['MPLBACKEND']`)).toBe("'Agg'")
  })
})

describe('a data frame', () => {
  /** Imitates the parts of a library that the kernel uses. */
  const fake = (library: string, body: string, more = '') => `
import contextlib, sys, types
class DataFrame:
    shape, columns = (1000, 3), ['a', 'b', 'c']
    def __len__(self): return 1000
    def _repr_html_(self): return '<table>'
${body}
${more}
sys.modules['${library}'] = types.SimpleNamespace(DataFrame=DataFrame${more && ', Config=Config'})
frame = DataFrame()`
  const pandas = fake(
    'pandas',
    `    def to_string(self, max_rows, min_rows, max_cols, max_colwidth, show_dimensions): return f'at most {max_rows} rows'
    def to_json(self, orient, date_format, default_handler): return '[{"a": 1}]'`,
  )
  const polars = fake(
    'polars',
    `    def __str__(self): return f"{options['tbl_rows']} of many rows  \\nin {options['tbl_formatting']}"
    def write_json(self): return '[{"a": 1}]'`,
    `@contextlib.contextmanager
def Config(**given):
    global options
    options = given
    yield
    options = None`,
  )

  for (const [library, code, table] of [
    ['pandas', pandas, 'at most 60 rows\n[1000 rows × 3 columns]'],
    ['polars', polars, '20 of many rows\nin NOTHING\n[1000 rows × 3 columns]'],
  ] as const) {
    it(`a data frame of ${library} is a compact table with its shape`, async () => {
      const kernel = await startKernel()
      await kernel.run(code)
      expect((await kernel.run('frame')).value).toEqual({ 'text/plain': table })
      const json = await kernel.run('frame', { json: true })
      expect(json.value).toEqual({ 'text/plain': table, 'application/json': [{ a: 1 }] })
      const failed = await kernel.run('frame + 1')
      expect(failed.error!.values).toBe('frame = <DataFrame 1000 × 3: a, b, c>')
    })
  }
})

it('an object that is only a picture is shown without its memory address', async () => {
  const kernel = await startKernel()
  const png = `__import__('base64').b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==')`
  const { value } = await kernel.run(`class P:\n    def _repr_png_(self): return ${png}\nP()`)
  expect(value).toMatchObject({ 'text/plain': '', 'image/png': expect.any(String) as string })
  const named = await kernel.run(`class Q(P):\n    def __repr__(self): return 'a plot of sales'\nQ()`)
  expect(named.value).toMatchObject({ 'text/plain': 'a plot of sales' })
})
