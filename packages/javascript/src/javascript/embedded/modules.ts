// Modules for `import` and `require`: a few of Node's. All others raise a plain error.
import { Buffer } from 'buffer/'
import path from 'path-browserify'
import { fs, promises } from './files.ts'
import inspecting from './inspect.ts'
import { TextDecoder, TextEncoder } from './utf8.ts'

const MODULES: Record<string, Record<string, unknown>> = {
  fs,
  'fs/promises': promises,
  path: { ...path },
  'path/posix': { ...path },
  buffer: { Buffer },
  util: { inspect: inspecting.inspect, TextDecoder, TextEncoder },
  'timers/promises': {
    setTimeout: (ms: number, value?: unknown) => new Promise((resolve) => setTimeout(() => resolve(value), ms)),
    setImmediate: (value?: unknown) => new Promise((resolve) => setTimeout(() => resolve(value), 0)),
  },
}

/** The cells' `require`. */
export function builtIn(name: unknown): Record<string, unknown> {
  const plain = String(name).replace(/^node:/, '')
  if (Object.hasOwn(MODULES, plain)) return MODULES[plain]!
  throw Object.assign(new Error(`Cannot find module '${String(name)}'`), { code: 'MODULE_NOT_FOUND' })
}

/** Returns the source of a module for `import`. @throws if the module does not exist here */
export function moduleSource(name: string): string {
  const names = Object.keys(builtIn(name)).filter((one) => one !== 'default')
  const from = `globalThis[Symbol.for('sandbridge.builtIn')](${JSON.stringify(name)})`
  return `const all = ${from}; export default all; export const { ${names.join(', ')} } = all`
}

Object.defineProperty(globalThis, Symbol.for('sandbridge.builtIn'), { value: builtIn })
