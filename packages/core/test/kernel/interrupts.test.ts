// This file verifies the byte 0x03: it interrupts whatever the running cell is doing, and nothing else.
import { describe, expect } from 'vitest'
import { GITHUB, startKernel, type Driver, type Outcome, type RunOptions, it } from './drive.ts'

/** Runs a cell and interrupts it shortly after it has printed `go`. */
async function interrupted(kernel: Driver, code: string, options: RunOptions = {}): Promise<Outcome> {
  const interruptSoon = () => void setTimeout(() => kernel.sandbox.interrupt(), 60)
  return kernel.run(code, { ...options, onFrame: (frame) => void (frame['text'] === 'go' && interruptSoon()) })
}

const GO = `print('go', end='', flush=True)\n`
const KEPT = 'kept = 1\n'

const BUSY = {
  'a loop': 'while True: pass',
  'time.sleep': 'import time\ntime.sleep(600)',
  'a regular expression': `import re\nre.match('(a+)+$', 'a' * 40 + 'b')`,
  'big integers': 'x = 7 ** 100_000\nwhile True: x = x * 7 % 7 ** 100_000 + 3 ** 30_000',
  'waiting for a process': `import subprocess\nsubprocess.run(['sleep', '600'])`,
  'waiting for a lock': 'import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()',
  'a cleanup that waits for what a program held':
    'import subprocess, threading\nlock = threading.Lock()\nlock.acquire()\ntry: subprocess.run(["sleep", "600"])\nfinally: lock.acquire()',
  'joining a thread':
    'import threading, time\nt = threading.Thread(target=time.sleep, args=(600,), daemon=True)\nt.start()\nt.join()',
  'reading a pipe': 'import os\nr, w = os.pipe()\nos.read(r, 1)',
  'a top-level await': 'import asyncio\nawait asyncio.sleep(600)',
  'a loop in a task': 'import asyncio\nasync def f():\n    while True: pass\nt = asyncio.create_task(f())\nawait t',
  'a loop after an await': 'import asyncio\nawait asyncio.sleep(0)\nwhile True: pass',
  'endless awaiting': 'import asyncio\nwhile True: await asyncio.sleep(0)',
  'asyncio.run': 'import asyncio\nasyncio.run(asyncio.sleep(600))',
  'a loop of calls of asyncio':
    'import asyncio\nloop = asyncio.get_event_loop()\nwhile True: loop.call_later(9, int).cancel()',
  'a call that is awaited': 'await mcp_github.create_issue()',
  'a blocking call': `runtime.call_tool_sync('github', 'create_issue')`,
  'a blocking call in a running loop': `import asyncio\nawait asyncio.sleep(0)\nruntime.call_tool_sync('github', 'x')`,
  'a call in a thread': `import asyncio\nawait asyncio.to_thread(__import__('time').sleep, 3)`,
  printing: `while True: print('x' * 1000)`,
  'the repr of its value': 'class R:\n    def __repr__(self):\n        while True: pass\nR()',
}

describe('an interrupt ends', () => {
  for (const [what, code] of Object.entries(BUSY)) {
    it(`an interrupt ends ${what}`, async ({ kernel }) => {
      const outcome = await interrupted(kernel, KEPT + GO + code, { servers: GITHUB })
      expect(outcome).toMatchObject({ status: 'interrupted', error: { name: 'KeyboardInterrupt' } })
      expect(outcome.error!.traceback).toMatch(/Cell 1, line ([3-9]|\d\d)[\s\S]*KeyboardInterrupt\n$/)
      expect(outcome.error!.traceback).not.toMatch(/sandbridge/)
      // The namespace is kept, and nothing of the interrupt is left.
      expect(await kernel.value('import asyncio\nawait asyncio.sleep(0.01)\nkept')).toBe('1')
      expect(kernel.badLines).toEqual([])
    })
  }

  it('an interrupt ends the call as well: the bridge learns that it is cancelled', async ({ kernel }) => {
    for (const code of ['await mcp_github.create_issue()', `runtime.call_tool_sync('github', 'x')`]) {
      const outcome = await interrupted(kernel, GO + code, { servers: GITHUB })
      const [call] = outcome.frames.filter((frame) => frame.type === 'call')
      expect(outcome.frames).toContainEqual({ type: 'cancel', id: call!['id'] })
    }
  })
})

describe('an interrupt', () => {
  it('an interrupt lets finally blocks run, also those that wait', async ({ kernel }) => {
    const awaiting =
      'import asyncio\ntry: await asyncio.sleep(600)\nfinally:\n    await asyncio.sleep(0.01)\n    print("cleaned")'
    const outcome = await interrupted(kernel, GO + awaiting)
    expect(outcome).toMatchObject({ status: 'interrupted', stdout: 'gocleaned\n' })
    expect(outcome.error!.traceback).toContain('Cell 1, line 3')
  })

  it('an interrupt can be caught by the cell', async ({ kernel }) => {
    const code = 'import time\ntry:\n    time.sleep(600)\nexcept KeyboardInterrupt: print("caught")\n"went on"'
    expect(await interrupted(kernel, GO + code)).toMatchObject({ status: 'ok', stdout: 'gocaught\n' })
  })

  it('an interrupt that a cell swallows while it waits still ends it', async ({ kernel }) => {
    const code = `
import asyncio
while True:
    try: await asyncio.sleep(600)
    except BaseException: pass`
    const outcome = await interrupted(kernel, `kept = 1\n${GO}${code}`)
    expect(outcome.status).toBe('interrupted')
    expect(await kernel.value('kept')).toBe('1')
  })

  it('an interrupt with no cell running does nothing, and never ends the next cell', async ({ kernel }) => {
    for (let i = 0; i < 50; i += 1) {
      kernel.sandbox.interrupt()
      expect(await kernel.value('sum(range(1000))')).toBe('499500')
      kernel.sandbox.interrupt()
    }
    expect(await kernel.value('import time\ntime.sleep(0.05)\n"untouched"')).toBe("'untouched'")
  })

  it.each([
    'asyncio.run(busy())',
    'asyncio.run(asyncio.sleep(100))',
    'asyncio.new_event_loop().run_until_complete(busy())',
    'with asyncio.Runner() as runner: runner.run(busy())',
  ])('an interrupt ends a loop of the cell itself, and no task of it waits for ever: %s', async (code) => {
    const kernel = await startKernel()
    await kernel.run('import asyncio; kept = 1\nasync def busy():\n    while True: await asyncio.sleep(0)')
    for (const _ of [1, 2, 3]) {
      const run = kernel.run(code)
      setTimeout(() => kernel.sandbox.interrupt(), 200)
      expect((await run).status).toBe('interrupted')
    }
    expect(await kernel.value('kept, await asyncio.sleep(0, 2)')).toBe('(1, 2)')
  })

  it('an interrupt ends no program of the next cell', async ({ kernel }) => {
    const run = kernel.run('import subprocess\nsubprocess.run(["sleep", "30"])')
    setTimeout(() => kernel.sandbox.interrupt(), 300)
    expect((await run).status).toBe('interrupted')
    expect(await kernel.value('subprocess.run(["sleep", "1.5"]).returncode')).toBe('0')
  })

  it('an interrupt that arrives with its run frame ends that cell', async ({ kernel }) => {
    kernel.sandbox.stdin.cork()
    const run = kernel.run('while True: pass')
    kernel.sandbox.interrupt()
    kernel.sandbox.stdin.uncork()
    expect((await run).status).toBe('interrupted')
  })

  it('an interrupt in the middle of a frame leaves the frame whole', async ({ kernel }) => {
    const outcome = await kernel.run(
      `try:\n    r = runtime.capability_summary()\nexcept KeyboardInterrupt: r = 'interrupted'\nr`,
      {
        onCall: ({ id }) => {
          const line = `${JSON.stringify({ type: 'reply', id, value: 'x'.repeat(300_000) })}\n`
          kernel.sandbox.stdin.write(line.slice(0, 150_000))
          kernel.sandbox.stdin.write('\x03')
          kernel.sandbox.stdin.write(line.slice(150_000))
          return undefined
        },
      },
    )
    expect(outcome).toMatchObject({ status: 'ok', value: { 'text/plain': "'interrupted'" } })
    expect(await kernel.value('runtime.capability_summary()', { onCall: () => ({ value: 'next' }) })).toBe("'next'")
  })

  for (const [what, code] of Object.entries({
    'of many tasks': `
import asyncio
async def work():
    for i in range(1_000_000):
        await asyncio.sleep(0)
        if i % 7 == 0: print(i, flush=True)
        if i % 11 == 0: await mcp_github.x()
await asyncio.gather(*[work() for _ in range(5)])`,
    'of calls one by one': 'import asyncio\nwhile True: await mcp_github.x()',
  })) {
    it(`hundreds of interrupts, at any moment ${what}, never lose a frame or a callback`, async ({ kernel }) => {
      for (let round = 0; round < 60; round += 1) {
        let seen = 0
        const outcome = await kernel.run(code, {
          servers: GITHUB,
          onCall: () => ({ value: { content: [] } }),
          onFrame: () => {
            seen += 1
            if (seen === 20 + round) kernel.sandbox.interrupt()
          },
        })
        expect(outcome.status).toBe('interrupted')
      }
      expect(
        await kernel.value('await asyncio.gather(*[mcp_github.x() for _ in range(20)])\n"whole"', {
          onCall: () => ({ value: null }),
        }),
      ).toBe("'whole'")
      expect(kernel.badLines).toEqual([])
    })
  }
})

describe('the end of the input', () => {
  for (const [what, code] of Object.entries({
    'ends an idle kernel': undefined,
    'ends a busy loop': 'while True: pass',
    'ends a sleep': 'import time\ntime.sleep(600)',
    'ends an await': 'import asyncio\nawait asyncio.sleep(600)',
    'ends a cell that swallows everything':
      'while True:\n    try:\n        while True: pass\n    except BaseException: pass',
  })) {
    it(`the end of the input ${what}`, async ({ kernel }) => {
      if (code === undefined) kernel.sandbox.stdin.end()
      else {
        void kernel
          .run(GO + code, { onFrame: (frame) => void (frame['text'] === 'go' && kernel.sandbox.stdin.end()) })
          .catch(() => {})
      }
      expect(await kernel.sandbox.exited).toMatchObject({ reason: 'exited', code: 0 })
    })
  }
})
