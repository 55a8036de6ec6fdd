// What every provider promises, as one suite that all of them pass. A difference between providers is a parameter here, and is named in docs/security.md.
import { tmpdir } from 'node:os'
import type { TestContext } from 'vitest'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLog } from '../../src/log.ts'
import { BridgeError } from '../../src/errors.ts'
import { languageFiles } from '../../src/languages/language-files.ts'
import type { CallFrame } from '../../src/protocol/frames.ts'
import type { Provider } from '../../src/sandbox/provider.ts'
import { KernelPool } from '../../src/session/kernel-pool.ts'
import { KeptTexts } from '../../src/session/kept-text.ts'
import { Session } from '../../src/session/session.ts'
import { attachCells, type CellRunner, MEMORY_BYTES, startCells } from '../support/cell-runner.ts'
import { makeNodeProvider, makeProvider, type TestedProvider, whyNot } from '../support/engines.ts'
import { type Differences, STUBBORN_LOOP, testAccidents } from './provider-accidents.ts'

export function testProvider(
  name: TestedProvider,
  differences: Differences,
  provider: Provider = makeProvider(name),
): void {
  let reason: Promise<string | undefined> | undefined

  /** A test that is skipped, with the reason, where the provider cannot be used. */
  const promise = (what: string, test: (ctx: TestContext) => Promise<void>, timeout = 60_000) =>
    it(what, { timeout }, async (ctx) => {
      reason ??= whyNot(provider)
      const why = await reason
      if (why !== undefined) ctx.skip(why)
      await test(ctx)
    })

  describe(`${name}: life of a sandbox`, () => {
    promise('a sandbox starts, becomes ready and says which Python it is', async () => {
      const cells = await startCells(provider)
      expect(cells.kernel.python).toMatch(/^3\.\d\d/)
      expect(cells.kernel.sandbox.provider).toBe(provider.name)
    })

    promise('a sandbox keeps variables from cell to cell', async () => {
      const cells = await startCells(provider)
      await cells.run('x = 20')
      expect((await cells.run('x + 1')).value).toBe('21')
    })

    promise('a sandbox reports how much memory and processor time it uses', async (ctx) => {
      if (process.platform !== 'linux') ctx.skip('only known on Linux')
      if (name === 'kubernetes') ctx.skip('a cluster does not tell what a pod uses')
      const cells = await startCells(provider)
      const { sandbox } = cells.kernel
      const before = await sandbox.usage?.()
      const isEngine = name === 'docker' || name === 'podman'
      if (isEngine && before === undefined) ctx.skip('the processes of this engine cannot be told from others')
      await cells.run('kept = bytearray(b"x") * (100 << 20)')
      const after = await sandbox.usage?.()
      expect(after!.memoryBytes - before!.memoryBytes).toBeGreaterThan(50 << 20)
      expect(after!.cpuMs).toBeGreaterThan(0)
      await sandbox.dispose()
      expect(await sandbox.usage?.()).toBeUndefined()
    })

    const rarelyNeeded = async () => {
      const cells = await startCells(provider)
      const names = ['ssl', 'tempfile', 'shutil', 'urllib.parse', 'ctypes']
      expect(
        await cells.evaluate(`[name for name in ${JSON.stringify(names)} if name in __import__('sys').modules]`),
      ).toEqual([])
      const { value, error } = await cells.run(
        'import ssl, shutil, tempfile, urllib.parse\nssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).check_hostname',
      )
      expect([value, error?.traceback]).toEqual(['True', undefined])
    }
    const allOfTheKernel = async (): Promise<void> => {
      const cells = await startCells(provider)
      const { value } = await cells.run(`
import os, sys
package = sys.modules['sandbridge_kernel'].__path__[0]
files = [os.path.join(folder, name) for folder, _, names in os.walk(package) for name in names if name != '__init__.py']
modules = ['sandbridge_kernel' + file[len(package):-3].replace('/', '.') for file in files]
sorted(module for module in modules if module not in sys.modules)`)
      // Types, and the port of the other sandboxes.
      expect(value).toBe("['sandbridge_kernel.frame_types', 'sandbridge_kernel.port', 'sandbridge_kernel.port_pipe']")
    }
    // What the embedded sandbox has loaded is in its snapshot; what it loads later it has to compile, in some cell's time.
    if (name === 'pyodide')
      promise('a sandbox has loaded the whole kernel, so that no cell waits for it to be compiled', allOfTheKernel)
    else promise('a sandbox has not loaded modules that few cells need; they load when imported', rarelyNeeded)

    promise('two sandboxes share nothing', async () => {
      const [first, second] = await Promise.all([startCells(provider), startCells(provider)])
      await first.run(
        "x = 1; open('/tmp/left', 'w').write('x'); import os; os.environ['LEFT'] = '1'; import json; json.left = 1",
      )
      const seen = await second.evaluate(
        "['x' in globals(), __import__('os').path.exists('/tmp/left'), 'LEFT' in __import__('os').environ, hasattr(json, 'left')]",
      )
      expect(seen).toEqual([false, false, false, false])
    })

    promise('random numbers differ between sandboxes', async () => {
      const runners = await Promise.all([startCells(provider), startCells(provider)])
      const draws = await Promise.all(
        runners.map((cells) =>
          cells.evaluate<unknown[]>("[__import__('random').random(), __import__('uuid').uuid4().hex]"),
        ),
      )
      expect(draws[0]![0]).not.toBe(draws[1]![0])
      expect(draws[0]![1]).not.toBe(draws[1]![1])
    })

    promise('disposing twice, and of a dead sandbox, is harmless', async () => {
      const cells = await startCells(provider)
      const { sandbox } = cells.kernel
      await Promise.all([sandbox.dispose(), sandbox.dispose()])
      await sandbox.dispose()
      expect((await sandbox.exited).reason).toBe('disposed')
      sandbox.interrupt()
      sandbox.stdin.write('late\n')
      expect(await differences.isLeft(sandbox.id)).toBe(false)
      expect((await cells.run('1')).status).toBe('died')
    })

    promise('disposing in the middle of a cell that swallows interrupts ends it', async () => {
      const cells = await startCells(provider)
      const running = cells.run(STUBBORN_LOOP)
      await cells.printed('looping')
      cells.kernel.interrupt()
      await cells.kernel.dispose()
      const { status, exit } = await running
      expect([status, exit?.reason]).toEqual(['died', 'disposed'])
      expect(await differences.isLeft(cells.kernel.sandbox.id)).toBe(false)
    })

    promise('disposing in the middle of a computation that never looks up ends it', async () => {
      const cells = await startCells(provider)
      const running = cells.run("print('looping', flush=True)\nx = 7 ** (10 ** 9)")
      await cells.printed('looping')
      await cells.kernel.dispose()
      expect((await running).exit?.reason).toBe('disposed')
    })

    promise(
      '20 sandboxes at once all work, and none is left',
      async () => {
        const sandboxes = await Promise.all(
          Array.from({ length: 20 }, () => provider.start({ memoryBytes: MEMORY_BYTES })),
        )
        const runners = await Promise.all(sandboxes.map((sandbox) => attachCells(sandbox)))
        const values = await Promise.all(runners.map(async (cells, index) => (await cells.run(`${index} * 2`)).value))
        expect(values).toEqual(runners.map((_, index) => String(index * 2)))
        await Promise.all(sandboxes.map((sandbox) => sandbox.dispose()))
        expect(await Promise.all(sandboxes.map(({ id }) => differences.isLeft(id)))).not.toContain(true)
      },
      120_000,
    )
  })

  describe(`${name}: the channel`, () => {
    promise('output arrives while the cell runs', async () => {
      const cells = await startCells(provider)
      let seen = ''
      const { output } = await cells.run(`print('before')\n${callTool('look')}\nprint('after')`, () => {
        seen = cells.output
        return { content: [] }
      })
      expect(seen).toBe('before\n')
      expect(output).toBe('before\nafter\n')
    })

    promise('a tool call goes out with its arguments and comes back with its value', async () => {
      const cells = await startCells(provider)
      const asked: unknown[] = []
      const { value } = await cells.run(
        `from mcp import runtime\nr = await runtime.call_tool('host', 'add', {'a': [1, 'é\\u2028'], 'b': None})\nr['sum'], r['text']`,
        ({ method, params }) => {
          asked.push([method, params])
          return { content: [], structuredContent: { sum: 3, text: 'ü\u2028' } }
        },
      )
      expect(asked).toEqual([
        ['call_tool', { server: 'host', tool: 'add', args: [], kwargs: { a: [1, 'é\u2028'], b: null } }],
      ])
      expect(value).toBe(String.raw`(3, 'ü\u2028')`)
    })

    promise('a failing call raises, and the cell can catch it', async () => {
      const cells = await startCells(provider)
      const { output } = await cells.run(
        `from mcp import runtime\ntry:\n    await runtime.call_tool('host', 'fail', {})\nexcept Exception as error:\n    print('caught', error)`,
        () => {
          throw new Error('no such luck')
        },
      )
      expect(output).toContain('caught')
      expect(output).toContain('no such luck')
    })

    promise('20 MB go out and come back in one frame each', async () => {
      const cells = await startCells(provider)
      let length = 0
      const { value, error } = await cells.run(
        `from mcp import runtime\nr = await runtime.call_tool('host', 'big', {'x': 'a' * 20_000_000})\nlen(r['y']), r['y'][-1]`,
        ({ params }) => {
          length = JSON.stringify(params).length
          return { content: [], structuredContent: { y: `${'b'.repeat(20_000_000)}c` } }
        },
      )
      expect(length).toBeGreaterThan(20_000_000)
      expect([value, error?.message]).toEqual(["(20000001, 'c')", undefined])
    })

    promise('a flood of output arrives whole, and the kernel lives on', async () => {
      const cells = await startCells(provider)
      const { output, status } = await cells.run("for _ in range(400):\n    print('x' * 65535)")
      expect([status, output.length]).toEqual(['ok', 400 * 65_536])
      expect((await cells.run('1 + 1')).value).toBe('2')
    })

    promise('an interrupt stops a loop and keeps the variables', async () => {
      const cells = await startCells(provider)
      await cells.run('x = 5')
      const running = cells.run("print('looping', flush=True)\nwhile True:\n    pass")
      await cells.printed('looping')
      cells.kernel.interrupt()
      expect((await running).status).toBe('interrupted')
      expect((await cells.run('x')).value).toBe('5')
    })

    promise('an interrupt stops a sleep', async () => {
      const cells = await startCells(provider)
      const running = cells.run("print('sleeping', flush=True)\nimport time\ntime.sleep(3600)")
      await cells.printed('sleeping')
      cells.kernel.interrupt()
      expect((await running).status).toBe('interrupted')
    })
  })

  describe(`${name}: bash cells`, () => {
    const bash = (cells: CellRunner, code: string, onCall?: (call: CallFrame) => unknown) =>
      cells.run(code, onCall, 'bash')

    if (name === 'pyodide') {
      promise('a bash cell says plainly that this sandbox has no bash', async () => {
        const cells = await startCells(provider)
        const { status, error } = await bash(cells, 'echo hi')
        expect([status, error?.message]).toEqual(['error', 'The embedded sandbox has no bash'])
        expect((await cells.run('1 + 1')).value).toBe('2')
      })
      return
    }

    promise('a bash cell prints, keeps variables and shares files with Python', async () => {
      const cells = await startCells(provider)
      const first = await bash(cells, 'x=1; f() { echo "f $x"; }; echo text > /workspace/file; id -u; exit 3')
      expect([first.status, first.error?.message]).toEqual(['error', '3'])
      expect(first.output).toMatch(/^[1-9]\d*\n$/)
      expect((await cells.run('open("/workspace/file").read()')).value).toBe("'text\\n'")
      expect((await bash(cells, 'f; cat /workspace/file')).output).toBe('f 1\ntext\n')
    })

    promise('a bash cell calls tools with `mcp`, and gets its status', async () => {
      const cells = await startCells(provider)
      const asked: unknown[] = []
      const doc = { server: 'host', tool: 'add', serverAlias: 'host', toolAlias: 'add', description: '', params: [] }
      const { output, status } = await bash(
        cells,
        'mcp host add --a 1 --b "x y" && mcp host fail || echo "status $?"',
        (call) => {
          if (call.method === 'query_tool_docs') {
            const { tools } = call.params as { tools: string[] }
            return [{ ...doc, tool: tools[0], inputSchema: { properties: { a: { type: 'number' } } } }]
          }
          asked.push(call.params)
          if (asked.length === 2) throw new BridgeError('TOOL_FAILED', 'no')
          return { content: [], structuredContent: { sum: 3 } }
        },
      )
      expect([status, output]).toEqual(['ok', expect.stringContaining('{"sum": 3}\n')])
      expect(output).toContain('status 1\n')
      expect(asked[0]).toEqual({ server: 'host', tool: 'add', args: [], kwargs: { a: 1, b: 'x y' } })
    })

    promise('a bash cell is interrupted with all processes that it has started', async () => {
      const cells = await startCells(provider)
      const running = bash(cells, 'kept=1; echo looping; sleep 600 | cat')
      await cells.printed('looping')
      cells.kernel.interrupt()
      expect((await running).status).toBe('interrupted')
      const processes = `[open(f'/proc/{pid}/comm').read().strip() for pid in __import__('os').listdir('/proc') if pid.isdigit()]`
      // The first process has yet to hear of it.
      while ((await cells.evaluate<string[]>(processes)).includes('sleep'))
        await cells.run('import time; time.sleep(0.05)')
      expect((await bash(cells, 'echo "kept $kept"')).output).toBe('kept 1\n')
    })

    promise('a bash cell is held to the memory of the sandbox', async () => {
      const cells = await startCells(provider)
      const greedy = await bash(cells, 'x=$(head -c 900000000 /dev/zero | tr "\\0" x); echo "${#x}"')
      expect(greedy.output).not.toContain('900000000')
    })
  })

  describe(`${name}: JavaScript cells`, () => {
    const withNode = makeNodeProvider(name) ?? provider
    const start = async (ctx: TestContext) => {
      const why = withNode === provider ? undefined : await whyNot(withNode)
      if (why !== undefined) ctx.skip(why)
      return startCells(withNode)
    }
    const js = (cells: CellRunner, code: string, onCall?: (call: CallFrame) => unknown) =>
      cells.run(
        code,
        (call) => {
          const { embedded } = call.params as { embedded?: boolean }
          if (call.method === 'language_files') return languageFiles('javascript', embedded ? 'embedded' : 'programs')
          return onCall?.(call)
        },
        'javascript',
      )
    const hasNode = name !== 'pyodide'

    if (withNode !== provider && name !== 'bubblewrap' && name !== 'bubblewrap-fork') {
      promise('a JavaScript cell says plainly that this image has no Node', async () => {
        const cells = await startCells(provider)
        const { status, error } = await js(cells, '1')
        expect([status, error?.message]).toEqual(['error', 'This sandbox has no node, which runs JavaScript cells'])
        expect((await cells.run('1 + 1')).value).toBe('2')
      })
    }

    promise('a JavaScript cell prints, keeps variables and shares files with Python', async (ctx) => {
      const cells = await start(ctx)
      const first = await js(
        cells,
        `import { writeFileSync } from 'node:fs'
const x: number = 1
console.log(${hasNode ? 'process.getuid() > 0' : true})
writeFileSync('/workspace/file', 'text')
throw new Error('late')`,
      )
      expect([first.status, first.error?.message, first.output]).toEqual(['error', 'late', 'true\n'])
      expect((await cells.run('open("/workspace/file").read()')).value).toBe("'text'")
      expect((await js(cells, 'const y = await import("node:fs"); [x, y.readFileSync("file", "utf8")]')).value).toBe(
        "[ 1, 'text' ]",
      )
    })

    promise('a JavaScript cell calls tools, also at once', async (ctx) => {
      const cells = await start(ctx)
      const asked: unknown[] = []
      const { value } = await js(
        cells,
        `const all = await Promise.all([1, 2, 3].map((a) => host.add({ a })))
const failed = await host.fail().catch((error) => error.code)
;[all.map(({ sum }) => sum).join(), failed]`,
        ({ params }) => {
          asked.push(params)
          const { tool, kwargs } = params as { tool: string; kwargs: { a: number } }
          if (tool === 'fail') throw new BridgeError('TOOL_FAILED', 'no')
          return { content: [], structuredContent: { sum: kwargs.a * 2 } }
        },
      )
      expect(value).toBe("[ '2,4,6', 'TOOL_FAILED' ]")
      expect(asked[0]).toEqual({ server: 'host', tool: 'add', args: [], kwargs: { a: 1 } })
    })

    promise('a JavaScript cell is interrupted, busy or not, and keeps its variables', async (ctx) => {
      const cells = await start(ctx)
      for (const code of ['await new Promise(() => {})', 'for (;;);', 'await null; for (;;) await null']) {
        const running = js(cells, `globalThis.kept = 1; console.log('looping'); ${code}`)
        await cells.printed('looping')
        cells.kernel.interrupt()
        expect((await running).status, code).toBe('interrupted')
        expect((await js(cells, 'kept')).value, code).toBe('1')
      }
    })

    promise('a JavaScript cell is held to the memory and the processes of the sandbox', async (ctx) => {
      const cells = await start(ctx)
      const greedy = await js(cells, 'const all = []; for (;;) all.push(Buffer.alloc(10 << 20, 1))')
      expect(greedy.status).not.toBe('ok')
      if (!hasNode) return
      const others = await start(ctx)
      const many = await js(
        others,
        `const { spawn } = require('node:child_process')
let failed = 0
for (let n = 0; n < 300; n++) { const child = spawn('sleep', ['600']); child.on('error', () => (failed += 1)) }
await new Promise((resolve) => setTimeout(resolve, 500))
failed > 100`,
      )
      expect(many.value === 'true' || many.status !== 'ok', JSON.stringify(many)).toBe(true)
    })
  })

  describe(`${name}: time limits`, () => {
    const openSession = () => {
      const log = createLog('error', () => {})
      const pool = new KernelPool({
        provider: async () => provider,
        limits: { memoryBytes: MEMORY_BYTES },
        size: 0,
        log,
      })
      const texts = new KeptTexts({ memoryBytes: 64 * 1024 * 1024, folder: tmpdir() })
      const session = new Session({ pool, texts, log, idleTimeoutMs: 600_000 })
      onTestFinished(async () => {
        await session.close()
        await pool.close()
      })
      return (code: string, timeoutMs = 60_000) =>
        session.run({ code, timeoutMs, servers: [], onCall: async () => null })
    }

    promise('a cell that runs too long is interrupted, and the variables stay', async () => {
      const run = openSession()
      await run('x = 5')
      expect(await run('while True:\n    pass', 500)).toMatchObject({ status: 'timeout', stateLost: false })
      expect((await run('x')).value?.['text/plain']).toBe('5')
    })

    promise('a cell that ignores the interrupt loses its sandbox, and the next cell has a fresh one', async () => {
      const run = openSession()
      await run('x = 5')
      expect(await run(STUBBORN_LOOP, 500)).toMatchObject({ status: 'timeout', stateLost: true })
      expect((await run("'x' in globals()")).value?.['text/plain']).toBe('False')
    })
  })

  testAccidents(name, differences, provider, promise)
}

function callTool(tool: string): string {
  return `from mcp import runtime\nawait runtime.call_tool('host', '${tool}', {})`
}
