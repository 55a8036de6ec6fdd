// Attacks that go from Python to JavaScript, by every way that Pyodide offers or overlooks.
import { PYODIDE_ONLY, type Attack } from '../attack.ts'

const kind = 'javascript'

export const javascriptAttacks: Attack[] = [
  { name: 'import js', kind, ...PYODIDE_ONLY, code: `import js\nprint('ESCAPED', js.process.pid)` },
  {
    name: 'the environment through js',
    kind,
    ...PYODIDE_ONLY,
    code: `import js\nprint(js.process.env.SANDBRIDGE_CANARY)`,
  },
  {
    name: 'run_js',
    kind,
    ...PYODIDE_ONLY,
    code: `from pyodide.code import run_js\nprint('ESCAPED', run_js('6 * 7'))`,
  },
  {
    name: 'pyodide_js reads a file',
    kind,
    ...PYODIDE_ONLY,
    code: `import pyodide_js\nprint((await pyodide_js._api.loadBinaryFile(FILE)).to_bytes().decode())`,
  },
  {
    name: 'pyodide_js mounts the host',
    kind,
    ...PYODIDE_ONLY,
    code: `import os, pyodide_js\npyodide_js.mountNodeFS('/host', os.path.dirname(FILE))\nprint(open('/host/' + os.path.basename(FILE)).read())`,
  },
  {
    name: 'the module object',
    kind,
    ...PYODIDE_ONLY,
    code: `import pyodide_js\nprint('ESCAPED', pyodide_js._module.HEAP8.length)`,
  },
  {
    name: 'a proxy found with gc',
    kind,
    ...PYODIDE_ONLY,
    code: `
import gc
def proxies():
    seen, pending = set(), gc.get_objects()
    while pending:
        value = pending.pop()
        if id(value) in seen: continue
        seen.add(id(value))
        if any(base.__name__ == 'JsProxy' for base in type(value).__mro__): yield value
        pending.extend(gc.get_referents(value))
for proxy in proxies():
    print('ESCAPED', type(proxy))
    break`,
  },
  {
    name: 'a proxy made with to_js, and its Function',
    kind,
    ...PYODIDE_ONLY,
    code: `from _pyodide_core import to_js\nprint('ESCAPED', to_js([1]).constructor.constructor('return 6 * 7')())`,
  },
  {
    name: 'a proxy made with create_proxy, and its Function',
    kind,
    ...PYODIDE_ONLY,
    code: `from _pyodide_core import create_proxy\nprint('ESCAPED', create_proxy(print).constructor.constructor('return 6 * 7')())`,
  },
  {
    name: 'pollution of the prototype that everything inherits',
    kind,
    ...PYODIDE_ONLY,
    code: `import js\njs.Object.prototype.polluted = 'yes'\nprint('ESCAPED', js.process.polluted)`,
  },
  {
    name: 'prepareStackTrace gets frames of the host',
    kind,
    ...PYODIDE_ONLY,
    code: `
from pyodide.code import run_js
print('ESCAPED', run_js("Error.prepareStackTrace = (error, frames) => frames; const f = new Error().stack; Error.prepareStackTrace = undefined; f.length"))`,
  },
  {
    name: 'dynamic import',
    kind,
    ...PYODIDE_ONLY,
    code: `
import json
from pyodide.code import run_js
print(await run_js("import('node:fs').then(fs => fs.readFileSync(" + json.dumps(FILE) + ", 'utf8'))"))`,
  },
  {
    name: 'the finder put back',
    kind,
    ...PYODIDE_ONLY,
    code: `
import sys
sys.modules.pop('js', None)
from _pyodide._importhook import jsfinder, register_js_finder
try: register_js_finder()
except RuntimeError: pass
import js
print('ESCAPED', js.process.pid)`,
  },
  {
    name: 'Pyodide imported again',
    kind,
    ...PYODIDE_ONLY,
    code: `
import sys
kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(('pyodide', '_pyodide'))}
try:
    import pyodide.code, js
    print('ESCAPED', js.process.pid)
finally:
    sys.modules.update(kept)`,
  },
  {
    name: 'a signal to the host through js',
    kind,
    ...PYODIDE_ONLY,
    code: `import js\nprint('ESCAPED', js.process.kill(HOST_PID, 0))`,
  },
]
