// Node's global functions that make sense without a network and other programs.
import structuredClone from '@ungap/structured-clone'
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
