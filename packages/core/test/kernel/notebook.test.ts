// This file verifies what people write for notebooks: IPython's display functions, its commands, and code in another
// dress.
import { describe, expect } from 'vitest'
import { type Frame, startKernel, it } from './drive.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const textIn = (value?: Record<string, unknown>) => (value ? (value['text/plain'] as string) : '')
const shown = (frames: Frame[]) =>
  frames.flatMap((frame) => (frame.type === 'display' || frame.type === 'clear' ? [{ ...frame, cell: 0 }] : []))

describe('a sandbox without IPython', () => {
  it('a cell displays with what it imports from IPython', async ({ kernel }) => {
    await kernel.run('import sys; sys.path[:] = [folder for folder in sys.path if "-packages" not in folder]')
    const code = `
from IPython.display import display, clear_output, update_display, HTML, Markdown, Latex, Image, JSON, SVG, Audio
import base64, pathlib, IPython
png = base64.b64decode("${PNG}")
pathlib.Path("/tmp/sandbridge-dot.png").write_bytes(png)
display(HTML("<b>x</b>"), Markdown("# x"), Latex("$x$"), JSON({"a": 1}), SVG("<svg/>"))
display(Image(png)); display(Image("/tmp/sandbridge-dot.png")); display(Image(filename="/tmp/sandbridge-dot.png"))
display({"text/plain": "raw"}, raw=True)
pathlib.Path("/tmp/sandbridge-dot.png").unlink()
[IPython.get_ipython().config, Audio([0, 1, -1], rate=8000)._repr_mimebundle_()["audio/wav"][:4]]`
    const { frames, value, error } = await kernel.run(code)
    expect(error).toBeUndefined()
    const named = (kind: string) => ({ 'text/plain': `<IPython.core.display.${kind} object>` })
    const image = { ...named('Image'), 'image/png': PNG }
    expect(shown(frames).map(({ data }: Record<string, unknown>) => data)).toEqual([
      { ...named('HTML'), 'text/html': '<b>x</b>' },
      { ...named('Markdown'), 'text/markdown': '# x' },
      { ...named('Latex'), 'text/latex': '$x$' },
      { ...named('JSON'), 'application/json': { a: 1 } },
      { ...named('SVG'), 'image/svg+xml': '<svg/>' },
      image,
      image,
      image,
      { 'text/plain': 'raw' },
    ])
    expect(value).toEqual({ 'text/plain': "[{}, b'RIFF']" })
  })

  it('a cell imports what notebooks import from IPython beside these, and reads what the rest is', async ({
    kernel,
  }) => {
    await kernel.run('import sys; sys.path[:] = [folder for folder in sys.path if "-packages" not in folder]')
    const { error } = await kernel.run(`
from IPython.display import Video, YouTubeVideo, GeoJSON, FileLinks, set_matplotlib_formats
from IPython.lib.display import Audio
import matplotlib_inline.backend_inline
set_matplotlib_formats("svg")
matplotlib_inline.backend_inline.set_matplotlib_formats("retina")`)
    expect(error).toBeUndefined()
    const missing = ['from IPython.core.magic import register_line_magic', 'from IPython import embed']
    for (const code of missing)
      expect((await kernel.run(code)).error!.hint, code).toMatch(/cells have IPython\.display/)
  })

  it.each<[code: string, shows: RegExp]>([
    ['from IPython import get_ipython\nget_ipython().run_line_magic("matplotlib", "inline")\n1', /^1$/],
    ['get_ipython().system("echo $x")', /^5\n$/],
    ['get_ipython().getoutput("echo a")', /^\['a'\]$/],
    ['get_ipython().run_cell_magic("time", "", "y = x + 1\\nprint(y)")\ny', /^6\nCPU times.*\nWall.*\n6$/],
    ['get_ipython().user_ns["x"], get_ipython().magic("who_ls int"), get_ipython().config', /^\(5, \['x'\], \{\}\)$/],
    ['get_ipython().run_cell("print(x)\\nx")', /^5\n5$/],
    ['hasattr(get_ipython(), "kernel")', /^False$/],
    [
      'exec("import IPython\\nfound = IPython.get_ipython()", lib := {"__name__": "lib"})\nlib["found"] is None',
      /^True$/,
    ],
  ])('a cell calls of the shell of IPython what converted notebooks call: %j', async (code, shows) => {
    const kernel = await startKernel()
    await kernel.run('x = 5')
    const { stdout, value, error } = await kernel.run(code)
    expect(error?.traceback).toBeUndefined()
    expect(stdout + textIn(value)).toMatch(shows)
  })

  it('a cell reads what of the shell of IPython is not there', async () => {
    const kernel = await startKernel()
    const { error } = await kernel.run('get_ipython().events')
    expect(error).toMatchObject({
      name: 'AttributeError',
      message: expect.stringMatching(/run_line_magic.*no events/) as string,
    })
    expect((await kernel.run('get_ipython().run_line_magic("store", "x")')).error!.message).toMatch(
      /IPython command %store/,
    )
  })

  it('a cell replaces a display, and takes back what it has shown', async ({ kernel }) => {
    const code = `
from IPython.display import clear_output, update_display
bar = display(1, display_id=True)
bar.update(2)
update_display(3, display_id=bar.display_id)
clear_output(wait=True)
clear_output()`
    const found = shown((await kernel.run(code)).frames)
    const data = (text: string) => ({ type: 'display', cell: 0, data: { 'text/plain': text }, id: 'display-1' })
    const clear = (wait: boolean) => ({ type: 'clear', cell: 0, wait })
    expect(found).toEqual([data('1'), data('2'), data('3'), clear(true), clear(false)])
  })

  it('a sandbox with IPython displays by its functions as by ours', async ({ kernel }) => {
    const code = `
import os, sys, tempfile
folder = tempfile.mkdtemp()
os.makedirs(folder + "/IPython/core")
files = {"__init__": "version = 1", "core/__init__": "", "core/display_functions": "def display(*objs): print(objs)",
         "display": "from .core.display_functions import *\\nclass HTML:\\n    def _repr_html_(self): return 'theirs'"}
for name, text in files.items():
    with open(f"{folder}/IPython/{name}.py", "w") as file: file.write(text)
sys.path.insert(0, folder)
import IPython
from IPython.display import display, HTML
display(HTML())
IPython.version`
    const { frames, value } = await kernel.run(code)
    expect(shown(frames)).toMatchObject([{ data: { 'text/html': 'theirs' } }])
    expect(value).toEqual({ 'text/plain': '1' })
  })
})

describe('a cell in another dress', () => {
  const fence = '```'
  it.each<[what: string, code: string, shows: string, note: RegExp]>([
    ['a fence', `${fence}python\nprint("in")\n1\n${fence}`, 'in\n1', /without the fence/],
    ['a fence of a shell', `${fence}bash\necho $((1 + 2))\n${fence}`, '3', /the fence says bash/],
    ['a fence of tildes', `\n~~~\n1\n~~~\n`, '1', /without the fence/],
    ['a whole indentation', '\n    def f():\n        return 1\n\n    f()', '1', /without the indentation/],
    ['a whole indentation with tabs', '\tx = """a\n\tb"""\n\tx', "'a\\nb'", /without the indentation/],
    ['prompts', '>>> def f(a):\n...     return a\n...\n>>> f(2)', '2', /without its prompts\./],
    ['prompts and their output', '>>> x = 3\n>>> x + 1\n77\n', '4', /prompts and the output after them/],
    ['prompts of IPython', 'In [1]: for i in range(2):\n   ...:     print(i)\n', '0\n1', /without its prompts/],
    ['escaped newlines', 'import math\\nprint("a\\nb")\\nmath.floor(3.5)', 'a\nb\n3', /escaped twice/],
    ['escaped quotes', 'x = \\"a\\"\\nprint(x)', 'a', /escaped twice/],
    ['escaped quotes alone', 'x = [\\"a\\"]\nprint(x[0])', 'a', /escaped twice/],
    ['escaped newlines in a fence', `${fence}py\\nx = 1 # one\\nx\\n${fence}`, '1', /escaped twice/],
    [
      'a needless command',
      '%matplotlib inline\n%load_ext autoreload\n1',
      '1',
      /`%matplotlib inline` was left out: figures/,
    ],
    ['a command in a fence', `${fence}\n%matplotlib inline\n1\n${fence}`, '1', /left out/],
    [
      'an installed package',
      '!pip install -q "json5>=1" || true\n1'.replace('json5', 'json'),
      '1',
      /json can be imported already/,
    ],
  ])('a cell in %s runs, and its result says how it was read', async (_, code, shows, note) => {
    const kernel = await startKernel()
    const { status, stdout, value, notes, error } = await kernel.run(code.replace(' || true', ''))
    expect(error).toBeUndefined()
    expect([status, stdout + textIn(value)]).toEqual(['ok', value ? shows : `${shows}\n`])
    expect(notes?.join(' ')).toMatch(note)
  })

  it.each<[code: string, shows: RegExp]>([
    ['%%time\nx = 1\nx + 1', /^CPU times: user .*, sys: .*, total: .*\nWall time: .*\n2$/],
    ['%time y = 5\nprint(y)', /^CPU.*\nWall.*\n5\n$/],
    ['%timeit -n 3 -r 2 1 + 1', /^[\d.]+ .s ± .* per loop \(mean ± std\. dev\. of 2 runs, 3 loops each\)\n$/],
    ['%%timeit -n 1 -r 1 z = 2\nz + 1', /of 1 run, 1 loop each/],
    ['n = "two"\n!echo one {n} $n', /^one two two\n$/],
    ['lines = !printf "a\\nb"\nlines', /^\['a', 'b'\]$/],
    ['for i in range(2):\n    !echo {i}', /^0\n1\n$/],
    ['%%bash\necho $((1 + 2))\necho more', /^3\nmore\n$/],
    ['%%writefile /tmp/sandbridge-run.py\nmade = 6\n', /^Overwriting/],
    ['%run /tmp/sandbridge-run.py\nmade', /^6$/],
    ['seen = 7\n%run -i /tmp/sandbridge-run.py one two\nmade, told', /^\(6, \['one', 'two', 7\]\)$/],
    ['import os\n%cd /tmp\nos.getcwd()', /\/tmp/],
    ['%env SB_X={name}\nimport os\nos.environ["SB_X"]', /^env: SB_X=py\n'py'$/],
    ['x = %env LANG\nx', /^'C.UTF-8'$/],
    ['import os\n%cd /\n%cd {os.sep}tmp\n%cd -\nos.getcwd()', /^\/\n\/.*tmp\n\/\n'\/'$/],
    ['one = two = "a"\n%who str', /^name one two\n$/],
    ['one = [1]\n%whos', /^Variable   Type   Data\/Info\nname       str    py\none        list   n=1\n$/],
    ['%who_ls', /^\['name'\]$/],
    ['!echo one \\\n  two\nprint(3)', /^one two\n3\n$/],
    ['lines = !echo a; echo b >&2; exit 4\nlines, _exit_code', /^\(\['a', 'b'\], 4\)$/],
    ['%env LANG', /^'C.UTF-8'$/],
    ['%env', /'LANG': 'C.UTF-8'/],
    ['len?', /^Signature: len\(obj, \/\)\n.*\nDocstring: Return the number/],
    ['name?', /^Type: str\nString form: py\nLength: 2\nDocstring:/],
    ['def f():\n    return 1\nf??', /^Signature: f\(\)\n.*\nSource:\ndef f\(\):\n {4}return 1\n$/],
    ['%reset -f\n%who_ls', /^\[\]$/],
    ['%prun sum([1])', /function calls in/],
    ['%time\nprint(1)', /^CPU times.*\nWall.*\n1\n$/],
    ['cd / && pwd', /^\/\n$/],
    ['d = {}\nd["k"] = !echo a\nd', /^\{'k': \['a'\]\}$/],
    ['!echo "{name:>4}" {{name}} $name \'$name\'', /^ {2}py \{name\} py \$name\n$/],
    ['!cat <<END\none\nEND\nprint(2)', /^one\n2\n$/],
    ['%%bash -s {name} "$name"\necho $1 $2', /^py py\n$/],
    ['path = "/tmp/sandbridge-run.py"\n%run {path}\nmade', /^6$/],
    ['%run "/tmp/sandbridge-run" \'a b\'\ntold', /^\['a b', None\]$/],
    [
      'open("/tmp/sandbridge-run.py", "a").write("\\nimport sys; sys.exit()")\n%run /tmp/sandbridge-run.py\nmade',
      /^6$/,
    ],
    ['%run -m json.tool --help\nprint(2)', /^usage[^]*\n2\n$/],
    ['%%bash\nname=sh\nlist=(1 2)\n[[ a == a ]] && echo ${list[1]} $name {x}', /^2 sh \{x\}\n$/],
    ['%%script sh -e\necho one\nfalse\necho two', /^one\n$/],
    ['%%python\nprint(6 * 7)', /^42\n$/],
    ['%%!\necho bang', /^bang\n$/],
    ['!python -c "print(6 * 7)"', /^42\n$/],
    ['!echo {1..3}', /^1 2 3\n$/],
    ['lines = !printf "a\\nb"\nlines.n, lines.s, lines.l', /^\('a\\nb', 'a b', \['a', 'b'\]\)$/],
    ['x = %sx echo a\nx', /^\['a'\]$/],
    ['import os\np = %pwd\np == os.getcwd()', /^True$/],
    ['%xmode Plain\n%colors NoColor\n1', /^1$/],
    ['x = 1\ncd /\n!pwd', /^\/\n\/\n$/],
    ['!echo a\nhead = [3]\ntail = [1]\nhead + tail', /^a\n\[3, 1\]$/],
  ])('a command of IPython does in a cell what it means: %j', async (code, shows) => {
    const kernel = await startKernel()
    const file = 'import sys; made = 6; told = [*sys.argv[1:], globals().get("seen")]'
    await kernel.run(`name = "py"; open("/tmp/sandbridge-run.py", "w").write(${JSON.stringify(file)})`)
    const { stdout, value, error } = await kernel.run(code)
    expect(error?.traceback).toBeUndefined()
    expect(stdout + textIn(value)).toMatch(shows)
  })

  it.each<[code: string, hint: RegExp]>([
    ['print("ran")\n!pip install no-such-one', /Nothing can be installed.*sandbridge packages add no-such-one/],
    ['%pip install -U no-such-one nor-this > /dev/null 2>&1', /packages add no-such-one nor-this`/],
    ['!python -m pip install no-such-one', /packages add no-such-one/],
    ['!sudo apt-get install graphviz', /Nothing can be installed/],
    ['import os\npip install no-such-one', /packages add no-such-one/],
    ['!uv pip install no-such-one', /packages add no-such-one/],
    ['%conda install -c conda-forge no-such-one', /packages add no-such-one/],
    ['!pip install -r requirements.txt', /packages add NAME/],
    ['!pip install git+https://a.b/c', /packages add NAME/],
    ['!apt-get update && apt-get install -y graphviz', /packages add NAME/],
    ['!pip list | head', /^runtime\.packages\(\) lists/],
    ['%pip show numpy', /^runtime\.packages\(\) lists/],
    ['t = %timeit -o 1', /IPython command %timeit/],
    ['%store x', /IPython command %store/],
    ['x = 1\n%%time', /first line/],
    [`${fence}js\nalert(1)\n${fence}`, /fence says js/],
    ['>>> x = 1\ny = 2\nprint(y)', /prompts and the outputs/],
  ])('a cell whose meaning is not certain does not run, and its error says what to write: %j', async (code, hint) => {
    const kernel = await startKernel()
    const { error, stdout } = await kernel.run(code)
    expect(error).toMatchObject({ name: 'SyntaxError', hint: expect.stringMatching(hint) as string })
    expect(stdout).toBe('')
  })

  it.each([
    ['def (', undefined],
    ['print("open', undefined],
    ['x = 1\\y', undefined],
  ])('a cell that is no Python in any dress fails as in Python: %j', async (code, hint) => {
    const { error } = await (await startKernel()).run(code)
    expect([error?.name, error?.hint]).toEqual(['SyntaxError', hint])
  })

  it('a time that a failed cell has started is told in that cell', async ({ kernel }) => {
    expect((await kernel.run('%%time\n1 / 0')).stdout).toMatch(/^CPU times/)
    expect((await kernel.run('%time 1')).stdout.match(/CPU times/g)).toHaveLength(1)
  })

  it('a cell captures what it would have shown, and a later one reads it', async ({ kernel }) => {
    const code = '%%capture made\nimport sys\nprint("a")\n!echo b\nprint("e", file=sys.stderr)\ndisplay(5)'
    expect(await kernel.run(code)).toMatchObject({ status: 'ok', stdout: '', stderr: '' })
    expect(await kernel.value('made.stdout, made.stderr, [one.data for one in made.outputs]')).toBe(
      "('a\\nb\\n', 'e\\n', [{'text/plain': '5'}])",
    )
    const again = await kernel.run('made.show()')
    expect([again.stdout, again.stderr, shown(again.frames).length]).toEqual(['a\nb\n', 'e\n', 1])
    expect(await kernel.run('%%capture seen\n%%time\n%time 6\n7')).not.toHaveProperty('value')
    expect(await kernel.value('seen.stdout[:4], seen.outputs[0].data')).toBe("('CPU ', {'text/plain': '7'})")
    await kernel.run('%%capture\nprint("lost")\n1 / 0')
    expect((await kernel.run('print("seen")')).stdout).toBe('seen\n')
    const part =
      'from IPython.utils.capture import capture_output\nwith capture_output() as made: print(1)\nmade.stdout'
    expect(await kernel.value(part)).toBe("'1\\n'")
  })

  it('a cell shows all its values after the option of notebooks for that', async ({ kernel }) => {
    const start =
      'from IPython.core.interactiveshell import InteractiveShell\nInteractiveShell.ast_node_interactivity = '
    await kernel.run(`${start}"all"`)
    const { frames, value } = await kernel.run('1\nNone\nawait __import__("asyncio").sleep(0, 2)\n3')
    expect([shown(frames).map((one) => (one as { data?: unknown }).data), value]).toEqual([
      [{ 'text/plain': '1' }, { 'text/plain': '2' }],
      { 'text/plain': '3' },
    ])
    await kernel.run(`${start}"last_expr"`)
    expect(shown((await kernel.run('1\n3')).frames)).toEqual([])
  })

  it('code that parses is never read in another way', async ({ kernel }) => {
    const cells = [
      `text = """\n${fence}python\nprint("in")\n${fence}\n"""\nprint(text)`,
      'if True:\n    print("""\n    indented""")',
      'print("""\n>>> x = 1\n... \n""")',
      'print("a\\\\nb", r"\\n", """c\n\\n""")',
      'x = (10\n%matplotlib\n)'.replace('matplotlib', 'int("3")'),
      'print("""\n%matplotlib inline\n!pip install x\n%%time\n""")',
      'print("%d" % 1, 7\n% 4)',
      'In = {1: 2}\nprint(In[1])',
    ]
    for (const code of cells) {
      const usual = await kernel.run(`exec(compile(${JSON.stringify(code)}, "x", "exec"), {})`)
      const { stdout, notes, error } = await kernel.run(code)
      expect([stdout, notes, error], code).toEqual([usual.stdout, undefined, undefined])
    }
  })

  it('a cell that is a text with code shows it, and a note says that it did not run', async ({ kernel }) => {
    const code = 'x = 1\nprint(x)'
    for (const sent of [code, ['x = 1\n', 'print(x)'], { language: 'python', code }]) {
      const { stdout, value, notes } = await kernel.run(JSON.stringify(sent))
      expect([stdout, textIn(value).includes('print(x)')]).toEqual(['', true])
      expect(notes?.[0]).toMatch(/of code, which did not run: send the code/)
    }
    for (const text of ['"a text"', '"x"', '["a", "b"]', '{"code": "E11"}', '"""A docstring."""'])
      expect((await kernel.run(text)).notes, text).toBeUndefined()
  })

  it('text of many lines in a cell with commands stays as it is', async ({ kernel }) => {
    const code = '%matplotlib inline\ntext = """\n!ls\n%who\n"""\nvalue = (7\n%int("4"))\nprint(text, value)'
    const { stdout, error } = await kernel.run(code)
    expect([stdout, error]).toEqual(['\n!ls\n%who\n 3\n', undefined])
  })
})
