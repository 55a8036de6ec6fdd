// Converts `pyodide` into one classic script for an empty context. Emscripten then takes its "shell" branch, so its
// Node code is never used. Refuses unexpected text: a partial rewrite would be a security hole.
import { BridgeError } from '../../errors.ts'

/** The package's two JavaScript files. */
export interface PyodideSources {
  version: string
  /** pyodide.mjs: the loader. */
  loader: string
  /** pyodide.asm.mjs: Emscripten's runtime. */
  runtime: string
}

interface Rewrite {
  find: string
  put: string
  /** Number of expected occurrences; missing: at least one. */
  count?: number
}

const DYNAMIC_IMPORT = /\bimport\s*\(/g

const RUNTIME_REWRITES: Rewrite[] = [
  { find: 'import.meta.url', put: '"file:///pyodide.asm.mjs"' },
  { find: 'export default _createPyodideModule', put: '', count: 1 },
  // In a shell, Emscripten would run `sh` for random bytes.
  {
    find: 'var initRandomFill=()=>{',
    put: 'var initRandomFill=()=>{return view=>crypto.getRandomValues(view);',
    count: 1,
  },
  // Errors without a stack trace are still errors: boot.js turns traces off.
  { find: 'typeof t.stack!="string"||', put: '', count: 1 },
  // Python gets a MemoryError when its share is used up, well before the process's hard cap.
  {
    find: 'var getHeapMax=()=>4294901760',
    put: 'var getHeapMax=()=>globalThis.__sandbridgeHeapMaxBytes??4294901760',
    count: 1,
  },
  // The snapshot omits long runs of zeros, see snapshot.ts.
  { find: 'return Module.HEAP8.set(t),l}', put: 'return globalThis.__sandbridgeRestore(Module,t),l}', count: 1 },
]

/**
 * Returns the package's JavaScript as one classic script, which sets
 * `globalThis.__sandbridgeGlue = {loadPyodide, createPyodideModule}`.
 * @throws BridgeError SANDBOX_START_FAILED if the installed package differs from the version this was written for
 */
export function makeGlue(sources: PyodideSources): string {
  const refuse = (what: string): never => {
    throw new BridgeError(
      'SANDBOX_START_FAILED',
      `Cannot prepare Python: pyodide ${sources.version} has an unexpected layout (${what})`,
      { hint: 'Reinstall sandbridge to get the pinned version of the pyodide package.' },
    )
  }

  let runtime = sources.runtime
  for (const { find, put, count } of RUNTIME_REWRITES) {
    const parts = runtime.split(find)
    const found = parts.length - 1
    if (count === undefined ? found === 0 : found !== count) refuse(`'${find}' occurs ${found} times`)
    runtime = parts.join(put)
  }

  const exported = /export\s*\{([^}]*)\};?/.exec(sources.loader)
  const loadPyodide = /([\w$]+) as loadPyodide\b/.exec(exported?.[1] ?? '')?.[1]
  if (exported === null || loadPyodide === undefined) return refuse('pyodide.mjs exports no loadPyodide')
  const loader = sources.loader.replace(exported[0], '').replace(/\/\/# sourceMappingURL.*/, '')

  const script = `"use strict";(()=>{
const noImport=()=>{throw new Error("nothing can be loaded from inside the sandbox")};
${runtime.replace(DYNAMIC_IMPORT, 'noImport(')}
;const loadPyodide=(()=>{${loader.replace(DYNAMIC_IMPORT, 'noImport(')}
return ${loadPyodide}})();
globalThis.__sandbridgeGlue={loadPyodide,createPyodideModule:_createPyodideModule};
})();`
  if (script.search(DYNAMIC_IMPORT) >= 0 || script.includes('import.meta')) refuse('an import is left')
  return script
}
