// This file verifies the saved source of a function from a cell: it does the same wherever it is loaded, or there is a
// reason why it cannot be saved.
import { expect } from 'vitest'
import { it } from './drive.ts'

/** The saved source of `f`, and whether it returns what `f` returns. */
const KEPT = `
from sandbridge_kernel.source.function_source import describe
def kept(f):
    tool, names = describe(f), {}
    exec(tool["source"], names)
    return names[tool["name"]]() == f(), tool["source"]`

it.for([
  ['a text of several lines', 'if True:\n    def f():\n        return """\n        a\n            b"""'],
  ['one that begins at the margin', 'if True:\n    def f():\n        return """\na\n  b\n"""'],
  [
    'an f-string',
    'if True:\n    def f():\n        n = 1\n        return f"""\n        {n\n        + 1} {n = }\n    b"""',
  ],
  ['bytes, and a continued line', 'if True:\n    def f():\n        return b"""\n    a""", "x\\\n    y", 1 + \\\n  2'],
  ['brackets and comments at the margin', 'if True:\n    def f(a=[\n1,\n    2]):\n# note\n        return [a,\n  3]'],
  ['texts side by side', 'if True:\n    def f():\n        return ("a"\n            "b"\n  """\n    c""")'],
  ['tabs', 'if True:\n\tif True:\n\t\tdef f():\n\t\t\treturn """\n\t\ta"""'],
  [
    'a decorator',
    'if True:\n    @staticmethod\n    def g(): pass\n    import functools\n    @functools.cache\n    def f():\n        """Doc\n        string."""\n        return f.__doc__ if 0 else """\n    a"""',
  ],
  ['no block', 'def f():\n    return """\n    a"""'],
])('a function in a block keeps its meaning when it is saved: %s', async ([, code], { kernel }) => {
  await kernel.value(KEPT)
  if (code!.includes('functools'))
    await kernel.value('import functools\nKEPT = 1\ndef with_imports(s): return "import functools\\n" + s')
  await kernel.value(code!)
  const call = code!.includes('functools')
    ? 'names = {}; exec(with_imports(describe(f)["source"]), names); names["f"]() == f()'
    : 'kept(f)[0]'
  expect(await kernel.value(call)).toBe('True')
})

it('a function whose lines cannot be moved to the margin is refused', async ({ kernel }) => {
  await kernel.value('from sandbridge_kernel.source.function_source import describe\n42')
  // A form feed counts as the begin of its line.
  const { error } = await kernel.run('if True:\n\f    def f():\n        return 1\ndescribe(f)')
  expect(error?.message).toContain('f cannot be taken out of the block that it is in')
})

it('a name that only this session has among the builtins is refused in a saved function, and a builtin of every session is not', async ({
  kernel,
}) => {
  await kernel.value('from sandbridge_kernel.source.function_source import describe, Refused\n42')
  const kept = async (code: string) => {
    const { error } = await kernel.run(`${code}\ndescribe(f)["name"]`)
    return error?.message ?? 'kept'
  }
  expect(await kept('def f(): return _')).toMatch(/only this session has: _ \(the last value of a cell\)/)
  expect(await kept('import builtins\nbuiltins.extra = 1\ndef f(): return extra')).toMatch(/extra \(a builtin of this/)
  expect(await kept('was = builtins.abs\nbuiltins.abs = lambda n: n\ndef f(): return abs(1)')).toMatch(
    /abs \(a builtin/,
  )
  await kernel.value('builtins.abs = was')
  expect(await kept('__version__ = "1"\ndef f(): return __version__')).toMatch(/__version__ \(str\)/)
  expect(await kept('def f(): return nowhere')).toMatch(/nowhere \(not defined\)/)
  expect(await kept('def f(x: int = abs(-1)): display(print, __name__, __import__, NotImplemented)')).toBe('kept')
})
