// @module-tag whole: each layer of the embedded sandbox is taken away; pyodide.test.ts tries one attack of each kind
// This file verifies each defence of the embedded sandbox: an attack that it stops, and that works when only this
// defence is removed.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { planMemory, underMemoryCap } from '../../src/isolation/pyodide/command.ts'
import { prepareBundle } from '../../src/isolation/pyodide/provider.ts'
import { spawnSandbox } from '../../src/isolation/pyodide/spawn-sandbox.ts'
import { openCanaries, type Canaries } from './canaries.ts'
import { searchMemory } from './memory-search.ts'
import { CLI } from '../support/bridges/bridge-process.ts'
import { SANDBOX_CACHE } from '../support/sandboxes/sandbox-cache.ts'
import { sandboxVictim, type Victim } from './victims.ts'
import { wallOrSkip } from './wall.ts'
import { flagsWithout, weakenedSandbox, type Weakening } from './weakened.ts'
import { needsLinux, needsPosix, skip } from '../support/suite/needs.ts'

/** Windows and macOS set these themselves. */
const OF_SYSTEM = /^(?:SYSTEM(?:DRIVE|ROOT)|WINDIR|__CF_USER_TEXT_ENCODING)$/i

let bundle: string
let canaries: Canaries

beforeAll(async () => {
  bundle = await prepareBundle({ cacheFolder: SANDBOX_CACHE })
  canaries = await openCanaries()
})
afterAll(() => canaries.close())

const CODE_FROM_STRINGS: Weakening = {
  changes: [{ file: 'child.cjs', find: 'strings: false', put: 'strings: true' }],
  withoutFlags: ['--disallow-code-generation-from-strings'],
}

/** Python that runs JavaScript through the C library and prints the result. */
const javascript = (code: string): string => `
import ctypes
run = ctypes.CDLL(None).emscripten_run_script_string
run.restype = ctypes.c_char_p
print(run(${JSON.stringify(code)}.encode()).decode())`

async function printed(weakening: Weakening, code: string): Promise<string> {
  const victim = sandboxVictim(await weakenedSandbox(bundle, weakening))
  try {
    return await victim.run(code)
  } finally {
    await victim.close()
  }
}

/**
 * Runs code in one sandbox for several tests: starting one takes most of their time, and no attack prepares another.
 */
function sharedSandbox(weakening: Weakening): (code: string) => Promise<string> {
  let victim: Victim | undefined
  afterAll(() => victim?.close())
  return async (code) => {
    if (!victim || victim.ended) victim = sandboxVictim(await weakenedSandbox(bundle, weakening))
    return victim.run(code)
  }
}

const control = (name: string): string => readFileSync(new URL(`./control/${name}`, import.meta.url), 'utf8')

const plus = (first: Weakening, changes: Weakening['changes']): Weakening => ({
  ...first,
  changes: [...(first.changes ?? []), ...(changes ?? [])],
})

const NOT_DEFINED = 'void (() => {})({}, 0'
const TRACES = { file: 'boot.js', find: "Object.defineProperty(Error, 'stackTraceLimit'", put: NOT_DEFINED }
const inWhole = sharedSandbox({})
const withStrings = sharedSandbox(CODE_FROM_STRINGS)
const withStringsAndTraces = sharedSandbox(plus(CODE_FROM_STRINGS, [TRACES]))

it('the context makes no code from strings', async () => {
  const attack = javascript("'ESCAPED ' + 6 * 7")
  expect(await inWhole(attack)).not.toContain('ESCAPED')
  expect(await withStrings(attack)).toContain('ESCAPED 42')
})

it('the context holds no object of Node’s, whatever code runs in it', async () => {
  // Any object of another realm leads to that realm's Function, and from there to everything in the realm.
  const attack = javascript(
    `(() => {
        for (const name of Object.getOwnPropertyNames(globalThis)) {
          const Other = globalThis[name]?.constructor?.constructor
          if (typeof Other === 'function' && Other !== Function) return 'ESCAPED ' + Other('return process.pid')()
        }
        return 'nothing'
      })()`,
  )
  expect(await withStrings(attack)).toContain('nothing')
  const leaking = {
    file: 'child.cjs',
    find: 'createContext(Object.create(null)',
    put: 'createContext({ helper: {} }',
  }
  expect(await printed(plus(CODE_FROM_STRINGS, [leaking]), attack)).toContain('ESCAPED')
})

it('the context gets no error of Node’s when the stack overflows', async () => {
  const attack = javascript(
    `(() => {
        const seen = new Set()
        const dive = () => {
          try { dive() } catch {}
          try { new Error('x').stack } catch (error) { seen.add(error instanceof Error ? 'ours' : 'ESCAPED') }
        }
        // The stack is large: most of the way down is in large steps.
        const step = Array(10_000)
        const descend = () => {
          try { descend.apply(null, step) } catch { if (seen.size === 0) dive() }
        }
        descend()
        return [...seen].join() || 'nothing'
      })()`,
  )
  expect(await withStrings(attack)).toMatch(/^(ours|nothing)/)
  expect(await withStringsAndTraces(attack)).toContain('ESCAPED')
})

it('the context cannot make Node hand out stack frames', async () => {
  const attack = javascript(
    "(() => { try { Error.prepareStackTrace = (_, frames) => frames } catch {} const f = new Error('x').stack; return Array.isArray(f) ? 'ESCAPED ' + f.length : 'nothing' })()",
  )
  expect(await withStrings(attack)).not.toContain('ESCAPED')
  // Two defences: no stack traces are collected, and prepareStackTrace cannot be set.
  expect(await withStringsAndTraces(attack)).not.toContain('ESCAPED')
  const preparing = { file: 'prelude.js', find: "Object.defineProperty(Error, 'prepareStackTrace'", put: NOT_DEFINED }
  expect(await printed(plus(CODE_FROM_STRINGS, [TRACES, preparing]), attack)).toContain('ESCAPED')
})

it('the threads that move bytes may read nothing but their folder', async () => {
  // As if hostile bytes had taken one over.
  const takenOver = {
    file: 'pump.cjs',
    find: 'const die =',
    put: `try { require('node:fs').readFileSync(${JSON.stringify(CLI)}); require('node:fs').writeSync(2, 'ESCAPED') } catch {}
const die =`,
  }
  const said = async (changes: Weakening['changes']): Promise<string> => {
    const sandbox = await weakenedSandbox(bundle, { changes: [takenOver, ...(changes ?? [])] })
    const victim = sandboxVictim(sandbox)
    expect(await victim.run('print(42)')).toContain('42')
    await victim.close()
    return (await sandbox.exited).detail
  }
  expect(await said([])).not.toContain('ESCAPED')
  expect(await said([{ file: 'child.cjs', find: '      execArgv,', put: '      execArgv: [],' }])).toContain('ESCAPED')
})

describe('a snapshot that keeps all', () => {
  const withAllKept = sharedSandbox({
    changes: [
      { file: 'boot.js', find: 'take_out_proxies()\ndel', put: 'del' },
      { file: 'boot.js', find: 'forget()\ndel', put: 'del' },
      // Same length as the replaced text, because the index beside this file contains positions.
      { file: 'files.bin', find: 'hasattr(finder, "jsproxies")', put: 'False'.padEnd(28) },
      { file: 'files.bin', find: 'name in ("js", "pyodide_js") or', put: ''.padEnd(31) },
      {
        file: 'child.cjs',
        find: 'input.lockFile =',
        put: "input.leaked = bundle.slice(bundle.lastIndexOf('weakened-'))\ninput.lockFile =",
      },
      {
        file: 'boot.js',
        find: "HOME: '/home/sandbox'",
        put: "HOME: '/home/sandbox', LEAKED: building ? `built-${input.leaked}` : ''",
      },
      {
        file: 'boot.js',
        find: 'const hasPackages =',
        put: "if (!building) pyodide.globals.set('leaked', `started-${input.leaked}`)\nconst hasPackages =",
      },
    ],
    newSnapshot: true,
  })

  it('Python in the context finds no way to JavaScript', async () => {
    const attack = `import pyodide_js\nprint('ESCAPED', pyodide_js.version)`
    expect(await inWhole(attack)).toContain('ModuleNotFoundError')
    expect(await withAllKept(attack)).toContain('ESCAPED')
  })

  it('control: the search of the memory finds what each start and what the snapshot copies', async () => {
    const copied = ['built-weakened-', 'started-weakened-']
    expect(await searchMemory({ run: withAllKept }, [...copied, 'no such word at all'])).toEqual(copied)
  })
})

describe('the process, assuming that code runs in it with all of Node', () => {
  /** Runs JavaScript like the sandbox process: with its flags and an empty environment. */
  const breach = (code: string, flags: string[]): string => {
    const names = canaries.preamble().replaceAll('\n', ';')
    const { stdout, stderr } = spawnSync(process.execPath, [...flags, '-e', names + code], {
      env: {},
      encoding: 'utf8',
    })
    return `${stdout}\n${stderr}`
  }
  const PERMISSIONS = ['--permission', '--experimental-permission', '--allow-']

  it.each([
    { name: 'reads a file', code: "console.log(require('fs').readFileSync(FILE, 'utf8'))" },
    { name: 'writes a file', code: "require('fs').writeFileSync(MARKER, 'here')" },
    { name: 'starts a program', code: "require('child_process').execFileSync('touch', [MARKER])" },
  ])('the process with all of Node is stopped by the permission model: $name', async ({ code }) => {
    const guarded = breach(code, flagsWithout(bundle, []))
    expect(await canaries.traces(guarded), guarded).toBeUndefined()
    const unguarded = flagsWithout(bundle, []).filter((flag) => !PERMISSIONS.some((prefix) => flag.startsWith(prefix)))
    const open = breach(code, unguarded)
    expect(await canaries.traces(open), open).toBeDefined()
  })

  it.each([
    { flag: '--disallow-code-generation-from-strings', code: "console.log('ESCAPED ' + eval('6 * 7'))" },
    {
      flag: '--frozen-intrinsics',
      code: "Array.prototype.push = () => 'stolen'; if ([].push(1) === 'stolen') console.log('ESCAPED')",
    },
  ])('the process with all of Node is stopped by $flag', ({ flag, code }) => {
    expect(breach(code, flagsWithout(bundle, []))).not.toMatch(/^ESCAPED/m)
    expect(breach(code, flagsWithout(bundle, [flag]))).toMatch(/^ESCAPED/m)
  })

  const { heapMaxBytes, v8HeapMib } = planMemory(512 << 20)

  it.each([
    {
      flag: '--wasm-max-mem-pages',
      code: `try { new WebAssembly.Memory({ initial: ${heapMaxBytes / 65536 + 1} }); console.log('ESCAPED') } catch {}`,
    },
    {
      flag: '--max-old-space-size',
      code: `const kept = []; while (kept.length < ${v8HeapMib * 2}) kept.push(Array(1 << 17).fill(0)); console.log('ESCAPED')`,
    },
    { flag: '--wasm-max-committed-code-mb', code: control('compile-machine-code.cjs') },
  ])('the process with all of Node is restricted by $flag', ({ flag, code }) => {
    expect(breach(code, flagsWithout(bundle, []))).not.toMatch(/^ESCAPED/m)
    expect(breach(code, flagsWithout(bundle, [flag]))).toMatch(/^ESCAPED/m)
  })

  it('the process with all of Node opens no inspector on a signal (--disable-sigusr1)', () => {
    needsPosix('Windows has no such signal')
    const flag = '--disable-sigusr1'
    if (!process.allowedNodeEnvironmentFlags.has(flag)) skip(`only on a Node that has ${flag}`)
    const code = "process.kill(process.pid, 'SIGUSR1'); setTimeout(() => {}, 1000)"
    expect(breach(code, flagsWithout(bundle, []))).not.toContain('Debugger listening')
    // The permission model also disables the inspector.
    const open = flagsWithout(bundle, [flag]).filter((one) => !PERMISSIONS.some((prefix) => one.startsWith(prefix)))
    expect(breach(code, open)).toContain('Debugger listening')
  })

  it('the process with all of Node starts without the bridge’s environment', async () => {
    process.env['SANDBRIDGE_TEST_SECRET'] = 'ESCAPED'
    try {
      const command = [process.execPath, '-e', 'console.log(JSON.stringify(process.env))']
      const child = spawnSandbox({ command })
      let text = ''
      for await (const chunk of child.stdout) text += String(chunk)
      const values = Object.entries(JSON.parse(text) as Record<string, string>).filter(
        ([name]) => !OF_SYSTEM.test(name),
      )
      expect(values.filter(([, value]) => value !== '')).toEqual([])
      const { stdout } = spawnSync(command[0]!, command.slice(1), { encoding: 'utf8' })
      expect(stdout).toContain('ESCAPED')
    } finally {
      delete process.env['SANDBRIDGE_TEST_SECRET']
    }
  })

  it('the process with all of Node is limited in memory outside Python’s heap', () => {
    needsLinux('elsewhere there is no hard cap')
    const code =
      "const b = []; for (let i = 0; i < 16; i++) b.push(Buffer.alloc(64 << 20, 1)); console.log('ESCAPED', b.length)"
    const command = [process.execPath, ...flagsWithout(bundle, []), '-e', code]
    const run = ([program, ...args]: string[]): string =>
      spawnSync(program!, args, { env: {}, encoding: 'utf8' }).stdout
    expect(run(underMemoryCap(command, planMemory(512 << 20)))).not.toContain('ESCAPED')
    expect(run(command)).toContain('ESCAPED 16')
  })
})

it.for([
  { name: 'a connection', code: "require('net').connect(PORT, '127.0.0.1').on('error', (e) => console.log(e.code))" },
  { name: 'a Unix socket', code: "require('net').connect(UNIX_SOCKET).on('error', (e) => console.log(e.code))" },
  { name: 'a signal to the host', code: "process.kill(HOST_PID, 0); console.log('ESCAPED')" },
  { name: 'a file', code: "console.log(require('fs').readFileSync(FILE, 'utf8'))" },
  { name: 'writing a file', code: "require('fs').writeFileSync(MARKER, 'here')" },
  { name: 'writing into the bundle', code: "require('fs').writeFileSync(BUNDLE + '/x', ''); console.log('ESCAPED')" },
  { name: 'a program', code: "require('child_process').execFileSync('/bin/sh', ['-c', 'touch ' + MARKER])" },
  { name: 'the list of processes', code: "console.log('ESCAPED', require('fs').readdirSync('/proc').length)" },
  { name: 'the machine’s devices', code: "require('fs').readdirSync('/dev').length && console.log('ESCAPED')" },
  { name: 'the machine’s settings', code: "require('fs').readFileSync('/etc/passwd'); console.log('ESCAPED')" },
])('the outer wall stops a process with all of Node and no flag: $name', async ({ code }) => {
  const outer = await wallOrSkip(bundle)
  const names = (inside: string): string => `${canaries.preamble()}BUNDLE = ${inside}\n`.replaceAll('\n', ';')
  const run = async (command: string[], extraInput?: Buffer): Promise<string> => {
    const child = spawnSandbox({ command, ...(extraInput && { extraInput }) })
    let text = ''
    for await (const chunk of child.stdout) text += String(chunk)
    return `${text}\n${(await child.exited).detail}`
  }
  const { command, extraInput } = outer.wrap([outer.node, '-e', names(JSON.stringify(outer.bundle)) + code])
  const guarded = await run(command, extraInput)
  expect(await canaries.traces(guarded), guarded).toBeUndefined()
  const open = await run([process.execPath, '-e', names("require('path').dirname(FILE)") + code])
  expect(await canaries.traces(open), open).toBeDefined()
})
