// Node's global functions that make sense without a network and other programs.
import { host } from './host.ts'
import { TextDecoder, TextEncoder } from './utf8.ts'

export function addGlobals(): void {
  Object.assign(globalThis, {
    TextDecoder,
    TextEncoder,
    structuredClone,
    fetch: async () => {
      throw new TypeError('fetch failed')
    },
    process: {
      argv: ['quickjs'],
      env: {},
      platform: 'linux',
      versions: {},
      cwd: () => JSON.parse(String(host().file('folder'))) as string,
      nextTick: (callback: (...args: unknown[]) => void, ...args: unknown[]) => queueMicrotask(() => callback(...args)),
      stdout: { isTTY: false, write: (text: unknown) => host().print('stdout', String(text)) },
      stderr: { isTTY: false, write: (text: unknown) => host().print('stderr', String(text)) },
    },
  })
}

/** Supports plain values, dates, maps, sets and bytes. */
function structuredClone(value: unknown, seen = new Map<unknown, unknown>()): unknown {
  if (typeof value === 'function' || typeof value === 'symbol')
    throw new TypeError(`${String(value)} could not be cloned`)
  if (typeof value !== 'object' || value === null) return value
  if (seen.has(value)) return seen.get(value)
  if (value instanceof Date) return new Date(value)
  if (value instanceof RegExp) return new RegExp(value)
  if (ArrayBuffer.isView(value)) return (value as Uint8Array).slice()
  if (value instanceof ArrayBuffer) return value.slice(0)
  const into: any = value instanceof Map ? new Map() : value instanceof Set ? new Set() : Array.isArray(value) ? [] : {}
  seen.set(value, into)
  if (value instanceof Map)
    for (const [key, one] of value) into.set(structuredClone(key, seen), structuredClone(one, seen))
  else if (value instanceof Set) for (const one of value) into.add(structuredClone(one, seen))
  else for (const [key, one] of Object.entries(value)) into[key] = structuredClone(one, seen)
  return into
}
