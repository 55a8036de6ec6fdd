// This file verifies how values are shown: Jupyter's conventions, long containers, and libraries that the kernel must
// never load by itself.
import { describe, expect } from 'vitest'
import { type Outcome, startKernel, it } from './drive.ts'

/** Imitates the parts of matplotlib that the kernel uses. */
const MATPLOTLIB = {
  'artist.py': 'class Artist: pass',
  'lines.py': 'from .artist import Artist\nclass Line2D(Artist): pass',
  'figure.py': `
from .artist import Artist
class Figure(Artist):
    dpi, stale = 100, False
    def __init__(self, size=(6.4, 4.8)): self.size, self.saved, self.axes = size, [], [1]
    def get_size_inches(self): return self.size
    def savefig(self, stream, format, dpi):
        self.saved.append(dpi)
        stream.write(b'\\x89PNG' + str(self.size).encode())
    def draw(self): self.stale = True
    def show(self): raise RuntimeError('no screen')
    def __repr__(self): return '<Figure>'`,
  '_pylab_helpers.py': `
class Gcf:
    figs = {}
    @classmethod
    def get_all_fig_managers(cls): return list(cls.figs.values())
    @classmethod
    def destroy(cls, number): cls.figs.pop(number)
    @classmethod
    def destroy_all(cls): cls.figs.clear()`,
  'backend_bases.py': `
class FigureManagerBase:
    def __init__(self, figure, num): self.canvas, self.num = type('Canvas', (), {'figure': figure}), num
    def show(self): pass`,
  '_text_helpers.py': 'def warn_on_missing_glyph(codepoint, fonts): raise Warning(codepoint)',
  'pyplot.py': `
from ._pylab_helpers import Gcf
from .backend_bases import FigureManagerBase
from .figure import Figure
from . import _text_helpers
def figure(size=(6.4, 4.8)):
    made, number = Figure(size), max([0, *Gcf.figs]) + 1
    Gcf.figs[number] = FigureManagerBase(made, number)
    return made
def show(block=None):
    for manager in Gcf.get_all_fig_managers(): manager.show()
def write(text):
    for character in text: _text_helpers.warn_on_missing_glyph(ord(character), 'DejaVu Sans')`,
}

/** A kernel that has imported it. */
async function startDrawing() {
  const kernel = await startKernel()
  const code = `
import json, os, sys, tempfile
folder = tempfile.mkdtemp()
os.mkdir(folder + '/matplotlib')
for name, text in {'__init__.py': '', **json.loads(${JSON.stringify(JSON.stringify(MATPLOTLIB))})}.items():
    with open(f'{folder}/matplotlib/{name}', 'w') as file: file.write(text)
sys.path.insert(0, folder)
import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
import shutil; shutil.rmtree(folder)`
  expect(await kernel.run(code)).toMatchObject({ status: 'ok' })
  return kernel
}

const displays = (frames: Record<string, unknown>[]) =>
  frames.flatMap((frame) => (frame['type'] === 'display' ? [frame['data'] as Record<string, string>] : []))

it('a value is sent with what its rich methods return, without those that fail', async ({ kernel }) => {
  const rich = `
class Rich:
    def __repr__(self): return 'plain'
    def _repr_markdown_(self): return '**rich**'
    def _repr_png_(self): return b'\\x89PNG'
    def _repr_jpeg_(self): return None
    def _repr_json_(self): return {'a': 1}, {'meta': 'data'}
    def _repr_html_(self): raise RuntimeError('no HTML today')
Rich()`
  const found = await kernel.run(rich)
  expect(found.stderr).toBe('Rich._repr_html_ failed: RuntimeError: no HTML today\n')
  expect(found.value).toEqual({
    'text/plain': 'plain',
    'text/markdown': '**rich**',
    'image/png': 'iVBORw==',
    'application/json': { a: 1 },
  })
  const bundle = `
class Bundle:
    def _repr_mimebundle_(self, include, exclude, **_): return {'text/plain': 'b', 'image/png': 'AAAA'}, {}
display(Bundle(), 7)
type('Answers', (), {'__getattr__': lambda self, name: lambda *a: 'x'})`
  const outcome = await kernel.run(bundle)
  expect(displays(outcome.frames)).toEqual([{ 'text/plain': 'b', 'image/png': 'AAAA' }, { 'text/plain': '7' }])
  expect(Object.keys(outcome.value!)).toEqual(['text/plain'])
  const itself = `
class Itself:
    def __init__(self, fails=False): self.fails = fails
    def __repr__(self): return 'plain'
    def _ipython_display_(self): print('itself', 1 / (not self.fails))
display(Itself()); display(Itself(True))
Itself()`
  const own = await kernel.run(itself)
  expect([own.stdout, own.stderr, own.value, displays(own.frames)]).toEqual([
    'itself 1.0\nitself 1.0\n',
    'Itself._ipython_display_ failed: ZeroDivisionError: division by zero\n',
    undefined,
    [{ 'text/plain': 'plain' }],
  ])
})

it('a long container is wrapped into lines, at any depth, and remains valid Python', async ({ kernel }) => {
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
  // Three items fill a line of 110 characters.
  const full = Array(3)
    .fill(`'${'x'.repeat(33)}'`)
    .join(', ')
  expect(await kernel.value("['x' * 33] * 9")).toBe(`[${full},\n ${full},\n ${full}]`)
  expect(String(await kernel.value('a = list(range(100)); a.append(a); a'))).toContain('[...]')
})

it('a value whose repr is huge or raises harms nothing', async ({ kernel }) => {
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

it('a value is also sent as JSON, when that is asked for and it can be', async ({ kernel }) => {
  const json = async (code: string) => (await kernel.run(code, { json: true })).value!['application/json']
  expect(await json('[{"a": 1}, {"a": None}]')).toEqual([{ a: 1 }, { a: null }])
  expect(await json('(1, 2)')).toEqual([1, 2])
  for (const code of ['7', '"text"', '[object()]', '[float("nan")]', '[]', '["x" * 1_000_000]']) {
    expect(await json(code)).toBeUndefined()
  }
  expect((await kernel.run('[{"a": 1}]')).value).toEqual({ 'text/plain': "[{'a': 1}]" })
})

it('open figures are shown and closed when a cell ends, also when it fails', async () => {
  const kernel = await startDrawing()
  const outcome = await kernel.run('plt.figure(), plt.figure((3, 3))\n[Line2D()]')
  expect(displays(outcome.frames).map((data) => Object.keys(data))).toEqual([
    ['text/plain', 'image/png'],
    ['text/plain', 'image/png'],
  ])
  expect(outcome.value).toBeUndefined()
  expect(await kernel.value('len(plt.Gcf.figs)')).toBe('0')
  const failed = await kernel.run('plt.figure()\n1 / 0')
  expect([failed.status, displays(failed.frames).length]).toEqual(['error', 1])
})

it('figures have no repr beside their picture, as the last value, displayed, or with their axes', async () => {
  const kernel = await startDrawing()
  expect((await kernel.run('Figure()')).value).toEqual({ 'text/plain': '', 'image/png': expect.any(String) })
  const displayed = await kernel.run('display(Figure())')
  expect(displays(displayed.frames)).toEqual([{ 'text/plain': '', 'image/png': expect.any(String) }])
  // The return value of plt.subplots().
  const both = await kernel.run('plt.figure(), Line2D()')
  expect([both.value, displays(both.frames).length]).toEqual([undefined, 1])
  // Without an open figure, there is no better image.
  expect((await kernel.run('Figure(), Line2D()')).value).toMatchObject({
    'text/plain': expect.stringMatching(/^\(<Figure>, </),
  })
})

it('figures are not shown twice when the cell shows them itself', async () => {
  const kernel = await startDrawing()
  const displayed = await kernel.run('display(plt.figure())')
  expect(displays(displayed.frames).length).toBe(1)
  const value = await kernel.run('plt.figure()')
  expect(Object.keys(value.value!)).toEqual(['text/plain', 'image/png'])
  expect(displays(value.frames)).toEqual([])
})

it('figures are sent when they are shown, once each, in their order among the prints, and closed', async () => {
  const kernel = await startDrawing()
  const order = ({ frames }: Outcome) =>
    frames.flatMap((frame) => {
      if (frame.type === 'output') return [String(frame['text']).trim()]
      if (frame.type !== 'display') return []
      const { 'image/png': png, 'text/plain': text } = frame['data'] as Record<string, string>
      return [png === undefined ? `text ${text}` : Buffer.from(png, 'base64').toString().slice(4)]
    })
  const shown = await kernel.run(`
for size in (1, 2):
    print('figure', size)
    plt.figure((size, size))
    plt.show(block=False)
first, second = plt.figure((3, 3)), plt.figure((4, 4))
second.show()
print(len(plt.Gcf.figs))
plt.show()
first.show()
print(len(plt.Gcf.figs))
plt.figure((5, 5))
first`)
  expect(order(shown)).toEqual(['figure 1', '(1, 1)', 'figure 2', '(2, 2)', '(4, 4)', '1', '(3, 3)', '0', '(5, 5)'])
  expect(shown.value).toBeUndefined()
  const drawn = await kernel.run(
    'first.show(); first.show(); first.draw(); first.show(); plt.figure().axes = []; plt.show()',
  )
  expect(order(drawn)).toEqual(['(3, 3)', '(3, 3)', 'text <Figure>'])
  const cleared = await kernel.run('plt.figure(); plt.show(); plt.figure().axes = []')
  expect(order(cleared)).toEqual(['(6.4, 4.8)'])
})

it('figures whose font lacks a script have one note for each script, with the way to a font', async () => {
  const kernel = await startDrawing()
  const { notes } = await kernel.run('plt.write("日本語の"); plt.write("日한กข🎉")')
  expect(notes).toEqual([
    expect.stringMatching(
      /^A chart has Japanese text \(の日本語\).*DejaVu Sans.*packages add matplotlib-fontja`; then write `import/,
    ),
    expect.stringContaining('packages add koreanize-matplotlib'),
    expect.stringMatching(/Thai text \(กข\).*No package/),
    expect.stringMatching(/symbols \(🎉\)/),
  ])
  expect((await kernel.run('plt.write("中")')).notes).toEqual([expect.stringMatching(/Chinese.*mplfonts/)])
  expect((await kernel.run('1')).notes).toBeUndefined()
})

it('a font that a chart lacks is mentioned once in a cell, and not for each text', async ({ kernel }) => {
  await kernel.run(`import os, sys, tempfile
sys.path.insert(0, tempfile.mkdtemp())
os.chdir(sys.path[0])
os.mkdir("matplotlib")
open("matplotlib/font_manager.py", "w").write("import logging\\n_log = logging.getLogger(__name__)")
from matplotlib.font_manager import _log`)
  const log = 'for font in ("Arial", "Arial", "SimHei"): _log.warning("findfont: Font family %r not found.", font)'
  for (let cell = 0; cell < 2; cell += 1)
    expect((await kernel.run(log)).stderr).toBe(
      "findfont: Font family 'Arial' not found.\nfindfont: Font family 'SimHei' not found.\n",
    )
})

it('figures of 20,000 × 20,000 pixels are drawn smaller, never in full', async () => {
  const kernel = await startDrawing()
  await kernel.run('huge = plt.figure((200, 200))')
  expect(await kernel.value('max(huge.saved) * 200 <= 1568')).toBe('True')
  await kernel.run('small = plt.figure()')
  expect(await kernel.value('small.saved')).toBe('[100]')
})

it('figures are saved with the labels beyond their edges, unless these are far away', async () => {
  const kernel = await startDrawing()
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

it('figures never make the kernel load a library that the cell has not loaded', async ({ kernel }) => {
  await kernel.run('display(b"x"); [1]')
  expect(
    await kernel.value(`[m for m in ('matplotlib', 'PIL', 'pandas', 'numpy') if m in __import__('sys').modules]`),
  ).toBe('[]')
  expect(await kernel.value(`__import__('os').environ['MPLBACKEND']`)).toBe("'Agg'")
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
    it(`a data frame of ${library} is a compact table with its shape`, async ({ kernel }) => {
      await kernel.run(code)
      expect((await kernel.run('frame')).value).toEqual({ 'text/plain': table })
      const json = await kernel.run('frame', { json: true })
      expect(json.value).toEqual({ 'text/plain': table, 'application/json': [{ a: 1 }] })
      const failed = await kernel.run('frame + 1')
      expect(failed.error!.values).toBe('frame = <DataFrame 1000 × 3: a, b, c>')
    })
  }
})

it('a styled data frame is shown as its text, not as the HTML of its style', async ({ kernel }) => {
  const code = `
class Styler:
    def _repr_html_(self): return '<style>'
    def to_string(self, delimiter, max_rows, max_columns): return f'{max_rows}{delimiter}{max_columns}\\n'
Styler.__module__ = 'pandas.io.formats.style'
Styler()`
  expect((await kernel.run(code)).value).toEqual({ 'text/plain': '60\t30' })
})

it('a data frame of pandas is shown as the options of the cell say, within our own limits', async ({ kernel }) => {
  await kernel.run(`
import sys, types
class DataFrame:
    shape, columns = (5000, 300), []
    def __len__(self): return 5000
    def to_string(self, **options): return ' '.join(f'{name}={value}' for name, value in options.items())
usual = {'show_dimensions': 'truncate', 'max_rows': 60, 'min_rows': 10, 'max_columns': 0, 'max_colwidth': 50}
given = {}
get_option = lambda name: {**usual, **given}[name.removeprefix('display.')]
sys.modules['pandas'] = types.SimpleNamespace(DataFrame=DataFrame, get_option=get_option)
frame = DataFrame()`)
  const size = '[5000 rows × 300 columns'
  for (const [given, shown] of [
    ['', `max_rows=60 min_rows=20 max_cols=30 max_colwidth=80 show_dimensions=False\n${size}]`],
    ['max_rows=6', `max_rows=6 min_rows=10 max_cols=30 max_colwidth=80 show_dimensions=False\n${size}]`],
    ['min_rows=4, max_columns=5', `max_rows=60 min_rows=4 max_cols=5 max_colwidth=80 show_dimensions=False\n${size}]`],
    ['show_dimensions=False', 'max_rows=60 min_rows=20 max_cols=30 max_colwidth=80 show_dimensions=False'],
    ['show_dimensions=True', `max_rows=60 min_rows=20 max_cols=30 max_colwidth=80 show_dimensions=False\n${size}]`],
    ['max_colwidth=None', `max_rows=60 min_rows=20 max_cols=30 max_colwidth=None show_dimensions=False\n${size}]`],
    [
      'max_rows=None, max_columns=None',
      `max_rows=1000 min_rows=1000 max_cols=200 max_colwidth=80 show_dimensions=False\n${size}; at most 1,000 rows and 200 columns of a table are shown]`,
    ],
  ] as const) {
    const { value } = await kernel.run(`given = dict(${given})\nframe`)
    expect(value, given).toEqual({ 'text/plain': shown })
  }
})

it('a data frame of polars is shown as the options of the cell say, within our own limits', async ({ kernel }) => {
  await kernel.run(`
import contextlib, os, sys, types
class DataFrame:
    shape, columns = (5000, 300), []
    def __len__(self): return 5000
    def __str__(self): return ' '.join(str(options[name]) for name in ('tbl_rows', 'tbl_cols', 'fmt_str_lengths'))
@contextlib.contextmanager
def Config(**given):
    global options
    options = given
    yield
sys.modules['polars'] = types.SimpleNamespace(DataFrame=DataFrame, Config=Config)
frame = DataFrame()`)
  const size = '[5000 rows × 300 columns'
  for (const [given, shown] of [
    ['', `20 30 80\n${size}]`],
    ['MAX_ROWS=5', `5 30 80\n${size}]`],
    ['MAX_COLS=4', `5 4 80\n${size}]`],
    ['STR_LEN=20', `5 4 20\n${size}]`],
    ['TABLE_HIDE_DATAFRAME_SHAPE_INFORMATION=1', '5 4 20'],
    ['MAX_ROWS=-1', `1000 4 20\n${size}; at most 1,000 rows of a table are shown]`],
  ] as const) {
    const [name, value] = given.split('=')
    const set = given === '' ? '' : `os.environ['POLARS_FMT_${name}'] = '${value}'\n`
    expect((await kernel.run(`${set}frame`)).value, given).toEqual({ 'text/plain': shown })
  }
})

it('an image of Pillow is shown when it is shown, once, where it happened', async ({ kernel }) => {
  const pillow = `
class Image:
    mode, width, height, size = 'RGB', 4, 3, (4, 3)
    def save(self, stream, format): stream.write(b'PNG')
    def show(self, title=None): raise RuntimeError('no program')
class Derived(Image): pass
`
  const made = await kernel.run(`
import json, os, sys, tempfile
folder = tempfile.mkdtemp()
os.mkdir(folder + '/PIL')
for name, text in {'__init__': '', 'Image': json.loads(${JSON.stringify(JSON.stringify(pillow))})}.items():
    with open(f'{folder}/PIL/{name}.py', 'w') as file: file.write(text)
sys.path.insert(0, folder)
from PIL import Image`)
  expect(made).toMatchObject({ status: 'ok' })
  const shown = await kernel.run(`print('a')\nImage.Image().show()\nImage.Derived().show('title')\nprint('b')`)
  const order = shown.frames.flatMap((frame) =>
    frame['type'] === 'display' ? ['image'] : frame['type'] === 'output' ? [String(frame['text']).trim()] : [],
  )
  expect(order.filter(Boolean)).toEqual(['a', 'image', 'image', 'b'])
  const bundle = { 'text/plain': '<image, RGB, 4 × 3 pixels>', 'image/png': 'UE5H' }
  expect(displays(shown.frames)).toEqual([bundle, bundle])
})

it('an object that is only a picture is shown without its memory address', async ({ kernel }) => {
  const png = `__import__('base64').b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==')`
  const { value } = await kernel.run(`class P:\n    def _repr_png_(self): return ${png}\nP()`)
  expect(value).toMatchObject({ 'text/plain': '', 'image/png': expect.any(String) as string })
  const named = await kernel.run(`class Q(P):\n    def __repr__(self): return 'a plot of sales'\nQ()`)
  expect(named.value).toMatchObject({ 'text/plain': 'a plot of sales' })
})

it('a value is shown by its `_repr_pretty_`, and by its repr if that fails', async ({ kernel }) => {
  const code = `class P:
  def _repr_pretty_(self, p, cycle):
    with p.group(2, "P(", ")"): p.pretty([1]); p.text(","); p.breakable(); p.pretty("x")
class F:
  def _repr_pretty_(self, p, cycle): 1 / 0
  def __repr__(self): return "F"
display(F())
P()`
  const { value, stderr, frames } = await kernel.run(code)
  expect(value).toEqual({ 'text/plain': "P([1], 'x')" })
  expect(stderr).toBe('F._repr_pretty_ failed: ZeroDivisionError: division by zero\n')
  expect(frames.find(({ type }) => type === 'display')!['data']).toEqual({ 'text/plain': 'F' })
})

it('a value whose rich repr is no method, or has no name, is shown by its repr', async ({ kernel }) => {
  const code = `import functools
class P:
  _repr_html_ = _ipython_display_ = _repr_pretty_ = property(lambda self: 1 / 0)
  _repr_markdown_ = functools.partial(lambda value: 1 / 0)
  def __repr__(self): return "P"
P()`
  const { value, stderr } = await kernel.run(code)
  expect([value, stderr]).toEqual([{ 'text/plain': 'P' }, 'P failed: ZeroDivisionError: division by zero\n'])
})

it('bars of tqdm for notebooks are those for terminals: cells have no widgets', async ({ kernel }) => {
  const code = `import os, sys, tempfile
sys.path.insert(0, tempfile.mkdtemp())
os.chdir(sys.path[0])
os.mkdir("tqdm")
open("tqdm/__init__.py", "w").write("from . import std")
open("tqdm/std.py", "w").write("tqdm = trange = 'plain'")
open("tqdm/notebook.py", "w").write("tqdm = tqdm_notebook = trange = tnrange = 'widget'")
from tqdm.notebook import tqdm, trange
tqdm, trange`
  expect(await kernel.value(code)).toBe("('plain', 'plain')")
})
