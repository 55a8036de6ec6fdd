// This file verifies the first process of a native sandbox, alone in a PID namespace: its limits and the ends it
// notices. The attacks test its effect.
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { firstProcess } from '../../src/native-kernel.ts'
import { KERNEL_FOLDER } from '../../../core/src/util/package-root.ts'
import { needsLinux, skip } from '@sandbridge/core/test/support/suite/needs.ts'

const INIT = firstProcess()
const COMPILE = readFileSync(path.join(KERNEL_FOLDER, 'compile_kernel.py'), 'utf8')
const PYTHON = process.env['SANDBRIDGE_TEST_PYTHON'] ?? 'python3'

/** It counts the memory of every process it sees, and all processes end with it. */
const NAMESPACE = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc', '--net']
/** As in a sandbox: it also counts the files in these folders. */
const FILES = ['sh', '-c', 'mount -t tmpfs none /tmp && mount -t tmpfs none /dev/shm && exec "$@"', 'sh']

interface Init {
  python?: string
  kernel: string
  /** Bytecode of the kernel. */
  compiled?: Buffer
  /** Whether stdin stays open until the kernel has ended; `output`: until something was written. */
  stayOpen?: boolean | 'output'
  /** A file descriptor that the starting process has open without knowing. */
  inherited?: string
}

function start({ python = PYTHON, kernel, compiled = Buffer.alloc(0), stayOpen = true, inherited }: Init) {
  const sources = Buffer.from(
    JSON.stringify({ 'sandbridge_kernel/serve.py': kernel, 'sandbridge_kernel/__init__.py': 'NAME = __name__\n' }),
  )
  const config = `id=test kernelBytes=${sources.byteLength} codeBytes=${compiled.byteLength} memoryBytes=${256 << 20} pids=100000`
  const command = [...NAMESPACE, ...FILES, python, '-I', '-B', '-c', INIT, config]
  // Run in `/`: the tests' folder may be below a hidden one.
  const file = inherited === undefined ? undefined : openSync(inherited, 'r')
  const more = file === undefined ? [] : [...Array.from({ length: 18 }, () => 'ignore' as const), file]
  const child = spawn('unshare', command, { cwd: '/', stdio: ['pipe', 'pipe', 'pipe', ...more] })
  if (file !== undefined) closeSync(file)
  if (!child.stdin || !child.stdout || !child.stderr) throw new Error('no pipes')
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()))
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()))
  child.stdin.on('error', () => {})
  child.stdin.write(Buffer.concat([sources, compiled]))
  if (!stayOpen) child.stdin.end()
  if (stayOpen === 'output') child.stdout.once('data', () => child.stdin?.destroy())
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}

function needPython(): void {
  needsLinux('native sandboxes exist there alone')
  if (spawnSync('unshare', [...NAMESPACE, ...FILES, 'true']).status !== 0) skip('PID namespaces cannot be made here')
  if (spawnSync(PYTHON, ['--version']).status !== 0) skip(`there is no ${PYTHON}`)
}

describe('sandbox_init', () => {
  it('the first process runs the kernel from memory, with tracebacks that show its lines', async () => {
    needPython()
    const { stdout, stderr, code } = await start({
      kernel:
        'from . import NAME, __file__ as file\nprint(NAME, file, __name__, flush=True)\nraise ValueError("seen")\n',
    })
    expect(stdout).toBe('sandbridge_kernel /sandbridge/sandbridge_kernel/__init__.py sandbridge_kernel.serve\n')
    expect(stderr).toContain('ValueError: seen')
    expect(code).toBe(1)
  })

  it('the first process reports how a kernel ended whose input closed a moment earlier', async () => {
    needPython()
    // Imitates, for long enough to be observed, a process that has freed its memory and not yet closed its files.
    const kernel = `
import ctypes, os, threading, time
def end():
    time.sleep(0.2)
    os.write(1, b"ends")
    time.sleep(0.2)
    os._exit(3)
threading.Thread(target=end).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)`
    const { code, stdout, stderr } = await start({ kernel, stayOpen: 'output' })
    expect([code, stdout, stderr]).toEqual([3, 'ends', ''])
  })

  it('the first process runs compiled code, and the sources when another Python has compiled it', async () => {
    needPython()
    const input = JSON.stringify({
      'sandbridge_kernel/__init__.py': '',
      'sandbridge_kernel/serve.py': 'print("from bytecode", flush=True)',
    })
    const { stdout } = spawnSync(PYTHON, ['-I', '-B', '-c', COMPILE], { input, encoding: 'utf8' })
    const compiled = Buffer.from(stdout, 'base64')
    const kernel = 'print("from source", flush=True)'
    expect((await start({ kernel, compiled })).stdout).toBe('from bytecode\n')
    compiled.writeUInt8(compiled.readUInt8(0) ^ 1, 0)
    expect((await start({ kernel, compiled })).stdout).toBe('from source\n')
  })

  it('the first process reports how the kernel ended, and keeps its own exit codes apart', async () => {
    needPython()
    expect((await start({ kernel: 'import os\nos._exit(7)' })).code).toBe(7)
    for (const code of [86, 87, 88, 125, 137, 139])
      expect((await start({ kernel: `import os\nos._exit(${code})` })).code).toBe(1)
    expect((await start({ kernel: 'import os\nos.kill(os.getpid(), 9)' })).code).toBe(88)
    expect((await start({ kernel: 'import os\nos.kill(os.getpid(), 11)' })).code).toBe(139)
  })

  it('the first process limits memory below the sandbox’s own limit, so that the cell gets the error first', async () => {
    needPython()
    const { stdout } = await start({
      kernel: `
import resource
print(resource.getrlimit(resource.RLIMIT_DATA)[1] >> 20, resource.getrlimit(resource.RLIMIT_CORE)[1], flush=True)
try: bytearray(256 << 20)
except MemoryError: print('MemoryError', flush=True)`,
    })
    expect(stdout).toBe('224 0\nMemoryError\n')
  })

  it('only the first process of a sandbox stops the other processes while it counts', () => {
    needPython()
    const memory = readFileSync(path.join(KERNEL_FOLDER, 'sandbox_memory.py'), 'utf8')
    const count = `${memory}
use = MemoryUse(1 << 40, False)
signals = []
os.kill = lambda *signal: signals.append(signal)
use.count(False, late=True)
print(signals, flush=True)`
    const printed = (...command: string[]) => {
      const { stdout, stderr } = spawnSync(command[0]!, [...command.slice(1), '-I', '-c', count], { encoding: 'utf8' })
      return stdout || stderr
    }
    expect(printed('unshare', ...NAMESPACE, PYTHON)).toBe('[(-1, 19), (-1, 18)]\n')
    expect(printed(PYTHON)).toBe('[]\n')
  })

  it('the first process closes descriptors that the bridge was started with', async () => {
    needPython()
    const look =
      'import os, sys\nprint(os.readlink("/proc/self/fd/21") if os.path.exists("/proc/self/fd/21") else "closed")'
    const inherited = fileURLToPath(import.meta.url)
    expect((await start({ kernel: `${look}\nsys.stdout.flush()`, inherited })).stdout).toBe('closed\n')
    // The control: without this first process, the file is accessible.
    const file = openSync(inherited, 'r')
    const stdio = [...Array.from({ length: 21 }, () => 'pipe' as const), file]
    expect(spawnSync(PYTHON, ['-c', look], { stdio, encoding: 'utf8' }).stdout).toContain(inherited)
    closeSync(file)
  })

  it('the first process ends when the bridge is gone, also while the kernel is busy in C', async () => {
    needPython()
    const { code } = await start({ kernel: 'x = 7 ** (10 ** 9)', stayOpen: false })
    expect(code).toBe(0)
  })

  it('the first process counts memory that is shared between processes', async () => {
    needPython()
    const { code, stderr } = await start({
      kernel: `
import mmap
area = mmap.mmap(-1, 400 << 20)
for at in range(0, 400 << 20, 4096): area[at] = 1
import time
time.sleep(60)`,
    })
    expect(stderr).toContain('out of memory')
    expect(code).toBe(86)
  })

  it('the first process counts files and sockets', async () => {
    needPython()
    const holding = [
      "files = [open(f'{folder}/file', 'wb').write(b'x' * (130 << 20)) for folder in ('/tmp', '/dev/shm')]",
      "for number in range(200_000): os.close(os.open(f'/tmp/{number}', os.O_CREAT))",
      'import socket\nfor _ in range(4):\n    os.fork()\npairs = [socket.socketpair() for _ in range(100)]',
    ]
    for (const what of holding) {
      const { code, stderr } = await start({ kernel: `import os, time\n${what}\ntime.sleep(10)` })
      expect([code, stderr], what).toEqual([86, expect.stringContaining('out of memory')])
    }
    // The control: half of it is well below the limit.
    const kernel =
      "import os, time\nwith open('/tmp/file', 'wb') as file:\n    for _ in range(130): file.write(b'x' * (1 << 20))\ntime.sleep(0.5)\nos._exit(7)"
    expect((await start({ kernel })).code).toBe(7)
  })

  for (const version of ['3.8', '3.9']) {
    it(`the first process says that Python ${version} is too old`, async () => {
      needPython()
      const python = `python${version}`
      if (spawnSync(python, ['--version']).status !== 0) skip(`there is no ${python}`)
      const { code, stderr } = await start({ python, kernel: '' })
      expect(code).toBe(87)
      expect(stderr).toContain(`Python ${version} is too old: the kernel needs 3.10 or newer`)
    })
  }
})
