import { expect, it } from 'vitest'
import { tellingLine } from './failures.ts'

const PYTHON = `Traceback (most recent call last):
  File "/x/server.py", line 1, in <module>
    import mcp
ModuleNotFoundError: No module named 'mcp'
`
const NODE = `node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/x/index.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v22.14.0
`
const NPM = `npm error code E404
npm error 404 Not Found - GET http://localhost/@acme%2fnope - Not found
npm error 404
npm error 404  '@acme/nope@*' is not in this registry.
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git folder.
npm error A complete log of this run can be found in: /root/.npm/_logs/x.log
`
const UV = `  × No solution found when resolving tool dependencies:
  ╰─▶ Because nope was not found in the package registry, we conclude that
      your requirements are unsatisfiable.
`

it.each([
  ['a Python traceback', PYTHON, "ModuleNotFoundError: No module named 'mcp'"],
  [
    'a Python traceback with a warning below it',
    `${PYTHON}    at exit\n`,
    "ModuleNotFoundError: No module named 'mcp'",
  ],
  ['a Node stack', NODE, "Error: Cannot find module '/x/index.js'"],
  ['npm', NPM, "'@acme/nope@*' is not in this registry."],
  ['uv', UV, '╰─▶ Because nope was not found in the package registry, we conclude that'],
  ['a program that only talks', 'starting\nloading a model\n', 'loading a model'],
  [
    'an error with advice below it',
    'Error: GITHUB_TOKEN is required\nUsage: serve [options]\n',
    'Error: GITHUB_TOKEN is required',
  ],
  ['silence', '\n \n', ''],
])('the line that explains a failure is found in %s', (_what, text, line) => {
  expect(tellingLine(text)).toBe(line)
})
