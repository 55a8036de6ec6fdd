import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Script, createContext, runInContext } from 'node:vm'
import { expect, it } from 'vitest'
import { makeGlue, type PyodideSources } from './glue.ts'

const require = createRequire(import.meta.url)
const installed: PyodideSources = {
  version: 'installed',
  loader: readFileSync(require.resolve('pyodide/pyodide.mjs'), 'utf8'),
  runtime: readFileSync(require.resolve('pyodide/pyodide.asm.mjs'), 'utf8'),
}

it('makeGlue returns a classic script that has no way to load anything', () => {
  const glue = makeGlue(installed)
  expect(glue).not.toMatch(/\bimport\s*\(/)
  expect(glue).not.toContain('import.meta')
  expect(() => new Script(glue)).not.toThrow()
})

it('the script of makeGlue leaves two functions of the context’s own realm', () => {
  const context = createContext(Object.create(null) as object)
  runInContext('globalThis.console = { log() {}, error() {}, warn() {} }; read = load = () => {}', context)
  runInContext('globalThis.URL = function () {}', context)
  runInContext(makeGlue(installed), context)
  const kinds = runInContext(
    'const { loadPyodide, createPyodideModule } = __sandbridgeGlue; [loadPyodide instanceof Function, createPyodideModule instanceof Function].join()',
    context,
  ) as string
  expect(kinds).toBe('true,true')
})

it.each([
  ['a runtime without the random generator', { runtime: installed.runtime.replace('var initRandomFill=', 'var x=') }],
  ['a runtime with two of them', { runtime: installed.runtime + 'var initRandomFill=()=>{' }],
  ['a runtime with another limit', { runtime: installed.runtime.replaceAll('4294901760', '1') }],
  ['a loader without exports', { loader: 'const a = 1' }],
  ['a loader that exports something else', { loader: 'const a = 1; export { a as start };' }],
])('makeGlue refuses %s and says which version it is', (_, change) => {
  expect(() => makeGlue({ ...installed, version: '999.0.1', ...change })).toThrow(
    expect.objectContaining({ code: 'SANDBOX_START_FAILED', message: expect.stringContaining('999.0.1') }),
  )
})
