// What every provider promises, as one suite that all of them pass. Differences are parameters here and are documented
// in docs/security.md.
import { tmpdir } from 'node:os'
import { afterAll, describe, expect, it } from 'vitest'
import { createLog } from '../../src/util/log.ts'
import type { Provider } from '../../src/isolation/provider.ts'
import { KernelPool } from '../../src/cell/session/kernel-pool.ts'
import { KeptTexts } from '../../src/cell/session/kept-text.ts'
import { Session } from '../../src/cell/session/session.ts'
import { attachCells, MEMORY_BYTES, sharedCells, startCells } from '../support/sandboxes/cell-runner.ts'
import { makeProvider, type TestedProvider, whyNot } from '../support/sandboxes/engines.ts'
import { type Differences, STUBBORN_LOOP, testAccidents } from './provider-accidents.ts'
import { testLanguages } from './provider-languages.ts'
import { needsLinux, needsWholeRun, skip } from '../support/suite/needs.ts'

export function testProvider(
  name: TestedProvider,
  differences: Differences,
  provider: Provider = makeProvider(name),
): void {
  let reason: Promise<string | undefined> | undefined
  const shared = sharedCells(provider)
  const another = sharedCells(provider)

  /** A test that is skipped, with the reason, where the provider cannot be used. */
  const promise = (what: string, test: () => Promise<void>, timeout = 60_000) => {
    if (differences.only?.test(what) === false) return
    it(what, { timeout }, async () => {
      if (differences.briefly?.test(what) === false) needsWholeRun()
      reason ??= whyNot(provider)
      const why = await reason
      if (why !== undefined) skip(why)
      await test()
    })
  }
  /** The embedded sandbox starts none. */
  const promiseOfPrograms: typeof promise = name === 'pyodide' ? () => {} : promise

  describe(`${name}: life of a sandbox`, () => {
    promise('a sandbox starts, becomes ready and says which Python it is', async () => {
      const cells = await shared()
      expect(cells.kernel.python).toMatch(/^3\.\d\d/)
      expect(cells.kernel.sandbox.provider).toBe(provider.name)
    })

    promise('a sandbox imports modules of the standard library that its start did not load', async () => {
      const cells = await shared()
      const code = 'import sys\nold = "wave" in sys.modules\nimport wave, xml.dom.minidom, email.mime.text\nold'
      expect((await cells.run(code)).value).toBe('False')
    })

    // From Python 3.12 on; an older one has ordinary tasks here.
    promise('a sandbox makes the calls of eager tasks at the same time', async () => {
      const cells = await shared()
      const code = [
        'import asyncio',
        'loop = asyncio.get_running_loop()',
        'loop.set_task_factory(getattr(asyncio, "eager_task_factory", None))',
        'try: results = await asyncio.gather(*(mcp_host.echo() for _ in range(3)))',
        'finally: loop.set_task_factory(None)',
        'len(results)',
      ]
      const waiting: (() => void)[] = []
      const answerThree = (): Promise<unknown> =>
        new Promise((resolve) => {
          waiting.push(() => resolve({ content: [] }))
          if (waiting.length === 3) for (const answer of waiting) answer()
        })
      expect((await cells.run(code.join('\n'), answerThree)).value).toBe('3')
    })

    promiseOfPrograms(
      'a sandbox starts programs that no signal leaves alone, and keeps its variables when they are sent to all',
      async () => {
        const cells = await shared()
        const code = [
          'import multiprocessing, os, signal, subprocess, time',
          'kept, ended = 1, {}',
          'for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGALRM):',
          '    with subprocess.Popen(["sleep", "30"]) as program:',
          '        program.send_signal(number)',
          '        ended[number.name] = program.wait(5)',
          'forked = multiprocessing.get_context("fork").Process(target=time.sleep, args=(30,))',
          'forked.start(); forked.terminate(); forked.join(5)',
          'status = dict(line.split(":", 1) for line in subprocess.check_output(["cat", "/proc/self/status"], text=True).splitlines())',
          'group = subprocess.run(["sh", "-c", "kill -TERM 0; kill -HUP 0; sleep 5"]).returncode',
          'print(ended, forked.exitcode, int(status["SigBlk"], 16), int(status["SigIgn"], 16) & 0x7fffffff, group)',
        ]
        expect((await cells.run(code.join('\n'))).output.trim()).toBe(
          "{'SIGTERM': -15, 'SIGHUP': -1, 'SIGINT': -2, 'SIGQUIT': -3, 'SIGUSR1': -10, 'SIGALRM': -14} -15 0 0 -15",
        )
        expect((await cells.run('kept')).value).toBe('1')
        const interrupted = await cells.run('import _thread, time\n_thread.interrupt_main()\ntime.sleep(5)')
        expect(interrupted.status).toBe('interrupted')
        expect((await cells.run('signal.getsignal(signal.SIGINT) is signal.default_int_handler')).value).toBe('True')
      },
    )

    promise('a sandbox keeps variables from cell to cell', async () => {
      const cells = await shared()
      await cells.run('x = 20')
      expect((await cells.run('x + 1')).value).toBe('21')
    })

    promise('a sandbox reports how much memory and processor time it uses', async () => {
      needsLinux('elsewhere the processes of a sandbox are not known')
      if (name === 'kubernetes') skip('a cluster does not tell what a pod uses')
      const cells = await startCells(provider)
      const { sandbox } = cells.kernel
      const before = await sandbox.usage?.()
      const isEngine = name === 'docker' || name === 'podman'
      if (isEngine && before === undefined) skip('the processes of this engine cannot be told from others')
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
      // What runs before any cell, types, and the port of the other sandboxes.
      const others = ['run.ahead', 'wire.frame_types', 'wire.port', 'wire.port_pipe'].map(
        (module) => `'sandbridge_kernel.${module}'`,
      )
      expect(value).toBe(`[${others.join(', ')}]`)
    }
    // The embedded sandbox's snapshot contains its modules; any other one would be compiled during some cell.
    if (name === 'pyodide')
      promise('a sandbox has loaded the whole kernel, so that no cell waits for it to be compiled', allOfTheKernel)
    else promise('a sandbox has not loaded modules that few cells need; they load when imported', rarelyNeeded)

    promise('two sandboxes share nothing', async () => {
      const [first, second] = await Promise.all([shared(), another()])
      await first.run(
        "x = 1; open('/tmp/left', 'w').write('x'); import os; os.environ['LEFT'] = '1'; import json; json.left = 1",
      )
      const seen = await second.evaluate(
        "['x' in globals(), __import__('os').path.exists('/tmp/left'), 'LEFT' in __import__('os').environ, hasattr(json, 'left')]",
      )
      expect(seen).toEqual([false, false, false, false])
    })

    promise('random numbers differ between sandboxes', async () => {
      const runners = await Promise.all([shared(), another()])
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

    // An engine makes all of its sandboxes; the embedded ones are processes that do not know of each other.
    const many = name === 'pyodide' ? 8 : 20
    promise(
      `${many} sandboxes at once all work, and none is left`,
      async () => {
        const sandboxes = await Promise.all(
          Array.from({ length: many }, () => provider.start({ memoryBytes: MEMORY_BYTES })),
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
      const cells = await shared()
      let seen = ''
      const { output } = await cells.run(`print('before')\n${callTool('look')}\nprint('after')`, () => {
        seen = cells.output
        return { content: [] }
      })
      expect(seen).toBe('before\n')
      expect(output).toBe('before\nafter\n')
    })

    promise('a tool call goes out with its arguments and comes back with its value', async () => {
      const cells = await shared()
      const asked: unknown[] = []
      const { value } = await cells.run(
        `from mcp import runtime\nr = await runtime.call_tool('host', 'add', {'a': [1, 'é\\u2028'], 'b': None})\nr['sum'], r['text']`,
        ({ method, params }) => {
          asked.push([method, params])
          return { content: [], structuredContent: { sum: 3, text: 'ü\u2028' } }
        },
      )
      expect(asked).toEqual([
        ['call_tool', { server: 'host', tool: 'add', args: [], kwargs: { a: [1, 'é\u2028'], b: null }, exact: true }],
      ])
      expect(value).toBe(String.raw`(3, 'ü\u2028')`)
    })

    promise('a failing call raises, and the cell can catch it', async () => {
      const cells = await shared()
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
      const cells = await shared()
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
      const cells = await shared()
      const { output, status } = await cells.run("for _ in range(400):\n    print('x' * 65535)")
      expect([status, output.length]).toEqual(['ok', 400 * 65_536])
      expect((await cells.run('1 + 1')).value).toBe('2')
    })

    promise('an interrupt stops a loop and keeps the variables', async () => {
      const cells = await shared()
      await cells.run('x = 5')
      for (const loop of [
        'while True: pass',
        'import signal\nsignal.signal(signal.SIGINT, lambda *_: None)\nwhile True: pass',
        // Where Python ignores errors, also that of an interrupt.
        'while True:\n    try: input()\n    except EOFError: pass',
        'class D:\n    def __del__(self): sum(range(2000))\nwhile True: D()',
      ]) {
        const running = cells.run(`print('looping', flush=True)\n${loop}`)
        await cells.printed('looping')
        cells.kernel.interrupt()
        expect(await running, loop).toMatchObject({ status: 'interrupted' })
      }
      expect((await cells.run('x')).value).toBe('5')
    })

    promiseOfPrograms(
      'an interrupt ends the programs of its cell, whatever waits for them, and no others',
      async () => {
        const cells = await shared()
        const names = 'import os, subprocess, time\nother = subprocess.Popen(["sleep", "1000"])'
        await cells.run(names)
        for (const code of [
          'os.system("echo up; sleep 900; echo never")',
          'os.popen("echo up >&2; sleep 900").read()',
          'subprocess.run("echo up; sleep 900 | cat", shell=True)',
          'subprocess.run(["sh", "-c", "trap : INT TERM; echo up; setsid sleep 900 & while :; do sleep 1; done"])',
          'import multiprocessing as m\nwith m.get_context("fork").Pool(2) as p: print("up", flush=True); p.map(time.sleep, [900])',
          'subprocess.Popen(["sleep", "900"])\nprint("up")\nwhile True: pass',
        ]) {
          const running = cells.run(code)
          await cells.printed('up')
          cells.kernel.interrupt()
          expect(await running, code).toMatchObject({ status: 'interrupted' })
        }
        const left = `[open(f"/proc/{p}/cmdline").read() for p in os.listdir("/proc") if p.isdigit()
        and open(f"/proc/{p}/stat").read().split()[2] != "Z"].count("sleep\\x00900\\x00"), other.poll(), other.kill(), other.wait(5)`
        expect((await cells.run(left)).value).toBe('(0, None, None, -9)')
      },
    )

    promise('an interrupt stops a sleep', async () => {
      const cells = await shared()
      const running = cells.run("print('sleeping', flush=True)\nimport time\ntime.sleep(3600)")
      await cells.printed('sleeping')
      cells.kernel.interrupt()
      expect((await running).status).toBe('interrupted')
    })
  })

  describe(`${name}: time limits`, () => {
    const log = createLog('error', () => {})
    const pool = new KernelPool({
      provider: async () => provider,
      limits: { memoryBytes: MEMORY_BYTES },
      size: 0,
      log,
    })
    const texts = new KeptTexts({ memoryBytes: 64 * 1024 * 1024, folder: tmpdir() })
    const session = new Session({ pool, texts, log, idleTimeoutMs: 600_000 })
    afterAll(async () => {
      await session.close()
      await pool.close()
    })
    const run = (code: string, timeoutMs = 60_000) =>
      session.run({ code, timeoutMs, servers: [], onCall: async () => null })

    promise('a cell that runs too long is interrupted, and the variables stay', async () => {
      await run('x = 5')
      expect(await run('while True:\n    pass', 500)).toMatchObject({ status: 'timeout', stateLost: false })
      expect((await run('x')).value?.['text/plain']).toBe('5')
    })

    promise('a cell that ignores the interrupt loses its sandbox, and the next cell has a fresh one', async () => {
      await run('x = 5')
      expect(await run(STUBBORN_LOOP, 500)).toMatchObject({ status: 'timeout', stateLost: true })
      expect((await run("'x' in globals()")).value?.['text/plain']).toBe('False')
    })
  })

  if (!differences.isVariant) testLanguages(name, provider, shared, promise)
  testAccidents(name, differences, provider, shared, promise)
}

function callTool(tool: string): string {
  return `from mcp import runtime\nawait runtime.call_tool('host', '${tool}', {})`
}
