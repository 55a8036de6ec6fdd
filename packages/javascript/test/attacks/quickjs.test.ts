// @module-tag whole: embedded sandboxes with QuickJS, each of which takes seconds to start
// This file verifies JavaScript cells that attack the embedded sandbox from QuickJS, and each attack with its defence
// removed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { languageFiles } from '../../src/language-files.ts'
import { prepareBundle } from '../../../core/src/isolation/pyodide/provider.ts'
import { Driver, GITHUB, type Outcome, type RunOptions } from '@sandbridge/core/test/kernel/drive.ts'
import { SANDBOX_CACHE } from '@sandbridge/core/test/support/sandboxes/sandbox-cache.ts'
import { weakenedSandbox, type Weakening } from '@sandbridge/core/test/attacks/weakened.ts'

let bundle: string
let files: Record<string, string>

beforeAll(async () => {
  bundle = await prepareBundle({ cacheFolder: SANDBOX_CACHE })
  files = await languageFiles('javascript', 'embedded')
}, 300_000)

interface Attacked {
  js: (code: string, options?: RunOptions) => Promise<Outcome>
  kernel: Driver
}

const open: Driver[] = []
afterAll(() => Promise.all(open.map(({ sandbox }) => sandbox.dispose())))

/** Runs JavaScript in a sandbox without its outer wall and without the removed defences. */
async function startWithout(changes: Weakening['changes']): Promise<Attacked> {
  const kernel = new Driver(await weakenedSandbox(bundle, changes ? { changes } : {}))
  open.push(kernel)
  await kernel.ready()
  const js: Attacked['js'] = (code, options = {}) =>
    kernel.run(code, {
      language: 'javascript',
      servers: GITHUB,
      ...options,
      onCall: (call) => (call.method === 'language_files' ? { value: files } : options.onCall?.(call)),
    })
  return { js, kernel }
}

let whole: Promise<Attacked> | undefined
/** The unchanged sandbox: one for all attacks, each of which continues with the state that the previous one left. */
const start = (changes?: Weakening['changes']): Promise<Attacked> =>
  changes ? startWithout(changes) : (whole ??= startWithout(undefined))

const taken = (find: string, put: string) => [{ file: 'javascript.js', find, put }]

/** Searches every reachable object for one that leads to a `process` with a process id, or to WebAssembly. */
const SEARCH = `(() => {
  const seen = new Set(), pending = [globalThis]
  while (pending.length > 0 && seen.size < 20000) {
    const value = pending.pop()
    if (value == null || !/^(object|function)$/.test(typeof value) || seen.has(value)) continue
    seen.add(value)
    try {
      const found = value.constructor.constructor('return typeof process === "object" && process.pid || typeof WebAssembly === "object" && "wasm"')()
      if (found) return 'ESCAPED ' + found
    } catch {}
    try {
      for (const key of Reflect.ownKeys(value)) try { pending.push(value[key]) } catch {}
      pending.push(Object.getPrototypeOf(value))
    } catch {}
  }
  return 'nothing in ' + seen.size
})()`

describe('out of QuickJS', () => {
  it('no object in QuickJS leads to the context around it, or to Node', async () => {
    const { js } = await start()
    const { value, error } = await js(SEARCH)
    expect([error, value?.['text/plain']]).toEqual([undefined, expect.stringMatching(/^'nothing in \d{3,}'$/)])
    const ways = [
      'process.binding("fs")',
      'process.mainModule',
      'import("node:process")',
      'WebAssembly',
      'SharedArrayBuffer && Atomics',
      'std',
      'os',
    ]
    for (const way of ways) {
      const { value: got } = await js(
        `await (async () => ${way})().then((one) => one === undefined ? 'no' : 'ESCAPED', () => 'no')`,
      )
      expect(got?.['text/plain'], way).toBe("'no'")
    }
  })

  it('control: the same search finds the way out of a context that holds an object of Node', async () => {
    const vm = await import('node:vm')
    const context = vm.createContext(Object.create(null))
    expect(vm.runInContext(SEARCH, context)).toMatch(/^ESCAPED wasm|^nothing/)
    const leaking = vm.createContext({ helper: { process } })
    expect(vm.runInContext(SEARCH, leaking)).toMatch(/^ESCAPED \d+/)
  })

  it('endless code in QuickJS is interrupted', async () => {
    const attack = async (changes?: Weakening['changes']) => {
      const { js, kernel } = await start(changes)
      const running = js('console.log("go"); for (;;);', {
        onFrame: ({ type }) => void (type === 'output' && kernel.sandbox.interrupt()),
      })
      // The bridge waits this long before it ends the sandbox.
      const timer = setTimeout(() => void kernel.sandbox.dispose(), 2_000)
      const outcome = await running.then(
        ({ status }) => status,
        () => 'lost',
      )
      clearTimeout(timer)
      return outcome
    }
    expect(await attack()).toBe('interrupted')
    expect(await attack(taken('return isStopped() ? 1 : 0', 'return 0'))).toBe('lost')
  })

  it('QuickJS takes no more than its part of the memory', async () => {
    const attack =
      'let mib = 0; try { const all = []; for (;;) { all.push(new Uint8Array(8 << 20)); mib += 8 } } catch {} mib'
    const mibOf = async (changes?: Weakening['changes']) => {
      const { js } = await start(changes)
      return js(attack).then(
        ({ value }) => Number(value?.['text/plain']),
        () => Infinity,
      )
    }
    expect(await mibOf()).toBeLessThan(110)
    expect(await mibOf(taken('engine?.limit(', 'void ('))).toBeGreaterThan(130)
  })

  it('a cell in QuickJS can neither write nor read frames', async () => {
    const forged = '{"type":"forged"}'
    const attack = `require('fs').writeFileSync('/dev/sandbridge', ${JSON.stringify(`${forged}\n`)})`
    const frames = async (changes?: Weakening['changes']) => {
      const { js } = await start(changes)
      const outcome = await js(attack)
      return [outcome.error?.message, outcome.frames.filter(({ type }) => type === 'forged').length]
    }
    expect(await frames()).toEqual([expect.stringContaining('EINVAL'), 0])
    const weakened = taken('if (!statOf(path).isFile) throw', 'if (false) throw')
    expect(await frames(weakened)).toEqual([undefined, 1])
  })

  it('output of a cell in QuickJS is text in one frame, whatever it holds', async () => {
    const { js, kernel } = await start()
    const text = '"}\n{"type":"done","cell":1,"status":"ok"}\n\u2028\ud800\0'
    const { stdout, status } = await js(`process.stdout.write(${JSON.stringify(text)}); 1`)
    expect([stdout, status, kernel.badLines]).toEqual([text, 'ok', []])
  })

  it('polluted prototypes and replaced functions in QuickJS change only the cell', async () => {
    const { js, kernel } = await start()
    const asked: unknown[] = []
    const options: RunOptions = {
      onCall: ({ method, params }) => {
        asked.push([method, params])
        return { value: { content: [{ type: 'text', text: 'ok' }] } }
      },
    }
    await js(
      `Object.prototype.raw = true; Object.prototype.server = 'other'; Object.prototype.then = undefined
Object.prototype.errno = 0; Array.prototype.map = () => ['stolen']; Object.prototype.toJSON = undefined
await github.create_issue({ title: 'a' })`,
      options,
    )
    expect(asked).toEqual([['call_tool', { server: 'github', tool: 'create_issue', args: [], kwargs: { title: 'a' } }]])
    expect(await kernel.value('1 + 1')).toBe('2')
  })

  it('forged messages of QuickJS get no more than a cell has', async () => {
    const { js, kernel } = await start()
    const methods = new Set<string>()
    const outcome = await js(
      `const real = JSON.stringify
const forged = [
  { type: 'call', id: 9001, server: ['github'], tool: { a: 1 }, args: 'x', kwargs: 5 }, { type: 'call' },
  { type: 'runtime', name: '__class__', args: [] }, { type: 'runtime', name: 'save_tool', args: [1] }, { type: 'runtime', name: 'MCPError', args: ['x'] },
  { type: 'runtime', name: 'artifacts', args: [], binary: [99] }, { type: 'check', calls: [{ server: 1 }, null] }, { type: 'timer', afterMs: 'soon' },
  { type: 'timer', afterMs: -1 }, { type: 'display', data: { 'text/plain': 5 }, media: [[1, 2], 'x'] }, { type: 'ready' },
  { type: 'done', cell: 999, status: 'ok' }, { type: 5 },
]
for (const one of forged) { JSON.stringify = () => real(one); github.anything().catch(() => {}) }
JSON.stringify = real
await null // Calls leave after this turn, and the last timer counts.
await new Promise((resolve) => setTimeout(resolve, 200)); process.exit()`,
      {
        onCall: ({ method }) => {
          methods.add(method)
          return { error: { code: 'ARGUMENTS_INVALID', message: 'no' } }
        },
      },
    )
    expect([...methods]).toEqual(['call_tool'])
    expect(outcome.status).toBe('ok')
    expect(await kernel.value('1 + 1')).toBe('2')
  })

  it.for([
    ['garbage', 'JSON.stringify = () => "{{{"'],
    ['a list', 'JSON.stringify = () => "[1]"'],
    ['deep nesting', 'JSON.stringify = () => "[".repeat(1e6)'],
    ['too much at once', 'JSON.stringify = () => "x".repeat(9 << 20)'],
  ])('%s for the kernel ends QuickJS alone', async ([, attack]) => {
    const { js, kernel } = await start()
    await kernel.run('kept = 7')
    const { error } = await js(
      `${attack}; for (let n = 0; n < 9; n++) github.anything().catch(() => {}); await new Promise(() => {})`,
    )
    expect(error).toMatchObject({ name: 'QuickJSEnded' })
    expect(await kernel.value('kept')).toBe('7')
    expect((await js('1 + 1')).value?.['text/plain']).toBe('2')
  })
})
