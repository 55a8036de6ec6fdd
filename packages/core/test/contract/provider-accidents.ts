// What every provider promises when a cell takes too much, or when a part of a sandbox ends too early.
import { spawn } from 'node:child_process'
import path from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { BridgeError } from '../../src/errors.ts'
import { describeExit } from '../../src/cell/kernel/channel.ts'
import { Kernel } from '../../src/cell/kernel/kernel.ts'
import type { Provider, Sandbox } from '../../src/isolation/provider.ts'
import { type CellRunner, MEMORY_BYTES, startCells } from '../support/sandboxes/cell-runner.ts'
import type { TestedProvider } from '../support/sandboxes/engines.ts'
import { needsPosix } from '../support/suite/needs.ts'
import { descendants, runningProcesses, until } from '../support/machine/processes.ts'

export interface Differences {
  /** Another file tests the same sandboxes, reached in another way: cells in other languages are not tested again. */
  isVariant?: boolean
  /** Run only these promises: the rest does not depend on the way. */
  only?: RegExp
  /** On a short run of CI, only these: another engine or system could break them, and the rest is asked elsewhere. */
  briefly?: RegExp
  /** Whether anything of the sandbox is left, according to the engine, cluster or process list. */
  isLeft: (sandboxId: string) => Promise<boolean>
  /** Kills the program that the bridge talks to, without the bridge. */
  killFromOutside: (sandbox: Sandbox) => Promise<void>
}

/** What another engine or system for the same kernel could break. */
export const OF_ENGINES =
  /becomes ready|share nothing|disposing twice|memory limit|no Python object|process limit|full disk|killed|never comes up/

/** Registers a test, which is skipped where the provider cannot be used. */
export type ProviderTest = (what: string, test: () => Promise<void>, timeout?: number) => void

const HOLD_SANDBOX = path.join(import.meta.dirname, '../fixtures/sandboxes/hold-sandbox.ts')

export function testAccidents(
  name: TestedProvider,
  differences: Differences,
  provider: Provider,
  shared: () => Promise<CellRunner>,
  promise: ProviderTest,
): void {
  describe(`${name}: limits and accidents`, () => {
    promise('a cell that takes too much memory is told so, or ends as out of memory', async () => {
      const cells = await startCells(provider)
      const { status, error, exit } = await cells.run('data = []\nwhile True:\n    data.append(bytearray(10_000_000))')
      if (status === 'died') expect(exit?.reason).toBe('out-of-memory')
      else expect([status, error?.name]).toEqual(['error', 'MemoryError'])
    })

    promise('memory that no Python object owns counts as well', async () => {
      const cells = await startCells(provider)
      const { status, error, exit, output } = await cells.run(
        'import mmap\narea = mmap.mmap(-1, 1 << 30)\nfor at in range(0, 1 << 30, 4096):\n    area[at] = 1\nprint("took it")',
      )
      expect(output).not.toContain('took it')
      if (status === 'died') expect(exit?.reason).toBe('out-of-memory')
      else
        expect([
          status,
          /memory|OSError|MemoryError|PermissionError/i.test(`${error?.name} ${error?.message}`),
        ]).toEqual(['error', true])
    })

    promise('many processes share one memory limit', async () => {
      const cells = await startCells(provider)
      const { output, status, exit, error } = await cells.run(FORKED_MEMORY)
      expect(output).not.toContain('all of them')
      if (status === 'died') expect(exit?.reason).toBe('out-of-memory')
      else expect(error?.name ?? 'ok').toMatch(/ok|OSError|NotImplementedError|BlockingIOError|MemoryError/)
    })

    promise('a fork bomb is stopped by the process limit', async () => {
      const cells = await shared()
      const { output, error } = await cells.run(FORK_BOMB)
      expect(error?.traceback).toBeUndefined()
      const [count, stoppedBy] = JSON.parse(output) as [number, string]
      expect(count).toBeLessThanOrEqual(128)
      expect(stoppedBy).toMatch(/BlockingIOError|OSError|NotImplementedError/)
      expect((await cells.run('1 + 1')).value).toBe('2')
    })

    promise('a full disk is an error in the cell, and deleting helps', async () => {
      const cells = await startCells(provider)
      const { output, status, exit } = await cells.run(FILL_DISK)
      if (status === 'died') {
        // Files are in memory; where the host counts them for the sandbox, a full disk can exceed the limit.
        expect(exit?.reason).toBe('out-of-memory')
        return
      }
      const [written, raised] = JSON.parse(output) as [number, string]
      expect(written).toBeLessThan(512)
      expect(raised).toMatch(/OSError|MemoryError/)
      expect((await cells.run("open('/tmp/again', 'w').write('x')")).value).toBe('1')
    })

    promise('a kernel that ends itself is reported with its code', async () => {
      const cells = await startCells(provider)
      const { status, exit } = await cells.run('import os\nos._exit(3)')
      expect([status, exit?.reason]).toEqual(['died', 'exited'])
      expect(exit?.code).not.toBe(0)
    })

    const accidents = async () => {
      const ends: [code: string, words: string][] = [
        ['import os\nos._exit(137)', 'its process exited with code 1'],
        ['import os\nos._exit(125)', 'its process exited with code 1'],
        [
          'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)',
          'its Python was killed by SIGKILL from inside the sandbox, or because memory ran out',
        ],
        ['import ctypes\nctypes.string_at(0)', 'its Python was killed by SIGSEGV from inside the sandbox'],
      ]
      for (const [code, words] of ends) {
        const cells = await startCells(provider)
        const { exit } = await cells.run(code)
        expect(describeExit(exit!), code).toBe(words)
      }
    }
    // A crash of WebAssembly is different.
    if (name !== 'pyodide')
      promise('a kernel that a cell has ended is distinguished from one that was killed', accidents)

    promise('a sandbox killed from outside is reported as killed, and leaves nothing', async () => {
      needsPosix('Windows does not tell that a process was killed')
      const cells = await startCells(provider)
      const { sandbox } = cells.kernel
      const running = cells.run(STUBBORN_LOOP)
      await cells.printed('looping')
      await differences.killFromOutside(sandbox)
      const { status, exit } = await running
      expect([status, exit?.reason]).toEqual(['died', 'killed'])
      await sandbox.dispose()
      await until(async () => !(await differences.isLeft(sandbox.id)))
    })

    promise('a bridge that is killed leaves no sandbox behind', async () => {
      needsPosix('the list of processes')
      const bridge = spawn(process.execPath, ['--import', 'tsx', HOLD_SANDBOX, name], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      onTestFinished(() => void bridge.kill('SIGKILL'))
      const id = await new Promise<string>((resolve) =>
        bridge.stdout.once('data', (text: Buffer) => resolve(text.toString().trim())),
      )
      const started = descendants(bridge.pid!).map(({ pid }) => pid)
      // A pod is not a process of the bridge.
      if (name !== 'kubernetes') expect(started.length).toBeGreaterThan(0)
      bridge.kill('SIGKILL')
      await until(async () => {
        const alive = new Set(runningProcesses().map(({ pid }) => pid))
        return !started.some((pid) => alive.has(pid)) && !(await differences.isLeft(id))
      })
    })

    promise('a kernel that never comes up is an error and leaves nothing', async () => {
      const sandbox = await provider.start({ memoryBytes: MEMORY_BYTES })
      const attaching = Kernel.attach(sandbox)
      await sandbox.dispose()
      const outcome = await attaching.then(
        async ({ closed }) => (await closed).reason,
        (error: unknown) => (BridgeError.isInstance(error) ? error.code : error),
      )
      // A forked kernel, or one that outlives bridges, may have been up before it was ended.
      const mayBeUp = name === 'bubblewrap-fork' || sandbox.durable
      expect(mayBeUp ? ['SANDBOX_START_FAILED', 'disposed'] : ['SANDBOX_START_FAILED']).toContain(outcome)
      expect(await differences.isLeft(sandbox.id)).toBe(false)
    })
  })
}

// Prints inside the try: an interrupt may come at once.
export const STUBBORN_LOOP = `
said = False
while True:
    try:
        if not said:
            said = True
            print('looping', flush=True)
        while True:
            pass
    except BaseException:
        pass`

const FORK_BOMB = `
import json, os, signal, time
children, reason = [], 'none'
try:
    while len(children) < 3000:
        child = os.fork()
        if child == 0:
            time.sleep(600)
            os._exit(0)
        children.append(child)
except (OSError, NotImplementedError) as error:
    reason = type(error).__name__
for child in children:
    os.kill(child, signal.SIGKILL)
for child in children:
    os.waitpid(child, 0)
print(json.dumps([len(children), reason]))`

// Each takes less than the limit, all together more.
const FORKED_MEMORY = `
import os, time
children = []
for _ in range(6):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            data = bytearray(150_000_000)
            data[::4096] = b'x' * len(data[::4096])
            os.write(write, b'y')
            time.sleep(600)
        finally:
            os._exit(1)
    os.close(write)
    children.append((child, read))
time.sleep(1)
took = sum(os.read(read, 1) == b'y' for _, read in children)
alive = sum(os.waitpid(child, os.WNOHANG)[0] == 0 for child, _ in children)
if took == alive == 6:
    print('all of them')
for child, _ in children:
    try:
        os.kill(child, 9)
    except OSError:
        pass`

const FILL_DISK = `
import json, os
written, name = 0, 'none'
try:
    with open('/tmp/full', 'wb') as file:
        while written < 512:
            file.write(b'x' * (1 << 20))
            file.flush()
            written += 1
except (OSError, MemoryError) as error:
    name = type(error).__name__
try:
    os.remove('/tmp/full')
except OSError:
    pass
print(json.dumps([written, name]))`
