// @module-tag whole: it starts an embedded sandbox; output.test.ts asks the same of the native one
// This file verifies output past Python's streams in the embedded sandbox, where no thread empties the pipes: all of it
// arrives before the cell's end.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeProvider } from '../support/sandboxes/engines.ts'
import { Driver, type Frame } from './drive.ts'

let kernel: Driver
beforeAll(async () => {
  const provider = makeProvider('pyodide')
  await provider.prepare()
  kernel = new Driver(await provider.start({ memoryBytes: 512 << 20 }))
  await kernel.ready()
}, 300_000)
afterAll(() => kernel.sandbox.dispose())

it('10 MB of output to descriptors in the embedded sandbox belong to their cell, and none of it to the next', async () => {
  const { stdout } = await kernel.run(`import os\nfor i in range(10): os.write(1, b'a' * 1_000_000)`)
  // Not with toBe, which would print a difference of megabytes.
  expect(stdout.length).toBe(10_000_000)
  expect(stdout === 'a'.repeat(10_000_000)).toBe(true)
  expect((await kernel.run('print(5)')).stdout).toBe('5\n')
})

it('output to descriptors in the embedded sandbox comes in order with what is printed, for each stream', async () => {
  const code = `import os\nprint('1')\nos.write(1, b'2' * 3_000_000)\nos.write(2, b'3' * 3_000_000)\nprint('4')`
  const { stdout, stderr } = await kernel.run(code)
  expect([stdout.length, stderr.length]).toEqual([3_000_004, 3_000_000])
  expect(/^1\n2+4\n$/.test(stdout) && /^3+$/.test(stderr)).toBe(true)
})

it('output to descriptors in the embedded sandbox is in order with what is printed, line by line and across streams', async () => {
  const code = `import os, sys\nfor i in range(4):\n    print(i); os.write(1, b'w'); os.write(2, b'e'); print('p', end='')`
  const frames: string[] = []
  const note = (frame: Frame) => void (frame.type === 'output' && frames.push(String(frame['text'])))
  await kernel.run(code, { onFrame: note })
  expect(frames.join('')).toBe('0\nwep1\nwep2\nwep3\nwep')
})

it('files that stand for descriptors in the embedded sandbox lead to them', async () => {
  const code = `open('/dev/stdout', 'w').write('1\\n')\nprint('2')\nwith open('/dev/stderr', 'w') as f: f.write('3\\n')`
  expect(await kernel.run(code)).toMatchObject({ status: 'ok', stdout: '1\n2\n', stderr: '3\n' })
})

it('100 MB of output to descriptors in the embedded sandbox arrive whole', async () => {
  let chars = 0
  const count = (frame: Frame) => {
    if (frame.type !== 'output') return
    chars += String(frame['text']).length
    frame['text'] = ''
  }
  const code = `import os\nb = b'y' * 1_000_000\nfor i in range(100): os.write(1, b)`
  expect((await kernel.run(code, { onFrame: count })).status).toBe('ok')
  expect(chars).toBe(100_000_000)
  expect((await kernel.run('print(5)')).stdout).toBe('5\n')
})

it('an interrupt ends a loop of the cell itself in the embedded sandbox and keeps the variables', async () => {
  for (const code of [
    'asyncio.run(asyncio.sleep(100))',
    'asyncio.run(busy())',
    // Nearly all of the time is asyncio's, where no interrupt is raised.
    'loop = asyncio.get_event_loop()\nwhile True: loop.call_later(9, int).cancel()',
    'await asyncio.sleep(0)\nwhile True: loop.call_later(9, int).cancel()',
  ]) {
    await kernel.run('import asyncio; kept = 1\nasync def busy():\n    while True: await asyncio.sleep(0)')
    const run = kernel.run(code)
    setTimeout(() => kernel.sandbox.interrupt(), 300)
    const { status, error } = await run
    expect([status, error?.traceback], code).toEqual(['interrupted', expect.not.stringContaining('CancelledError')])
    expect(await kernel.value('kept')).toBe('1')
  }
})

it.each([
  ['import threading; threading.Thread(target=print).start()', /^This sandbox has no threads: `await` calls/],
  ['import asyncio; await asyncio.to_thread(print)', /^This sandbox has no threads/],
  ['import multiprocessing; multiprocessing.Pool(2)', /^No process can be started/],
  ['from concurrent.futures import ProcessPoolExecutor; ProcessPoolExecutor(1)', /^No process can be started/],
  ['import os; os.popen("ls")', /^No program can be started/],
  ['input()', /^A cell has no keyboard/],
])('the embedded sandbox says what it cannot do and what a cell writes instead: %s', async (code, hint) => {
  expect((await kernel.run(code)).error?.hint).toMatch(hint)
  expect((await kernel.run('import os; os.system("ls")')).stderr).toContain('no program can be started')
})
