// The input for a sandbox with a real python3: the program of its first process, and the kernel's sources, over stdin:
// not mounted, so that no host path is inside and the engine may be on another machine.
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Explained, ProcessEnd, SandboxLimits } from '@sandbridge/core/isolation'
import { KERNEL_FOLDER } from '@sandbridge/core/util'
import { exitSignal } from '@sandbridge/core/util/process'

/** The kernel's modules. */
const PACKAGE = 'sandbridge_kernel'
/** Concatenated, they form the first process's program. */
const INIT_FILES = ['sandbox_memory.py', 'sandbox_kernel.py', 'sandbox_init.py']
/** Precede them if the sandbox may outlive its bridge. */
const KEEPER_FILES = ['sandbox_pipe.py', 'sandbox_kept.py', 'sandbox_keeper.py']
/** Follows them in the program of a fork server. */
const FORK_SERVER_FILE = 'sandbox_fork_server.py'
/** Digits of each length that a fork server reads. Must match sandbox_fork_server.py. */
const SIZE_DIGITS = 10

// Must match the codes in packages/core/python/sandbox_init.py.
const EXIT_OUT_OF_MEMORY = 86
const EXIT_PYTHON_TOO_OLD = 87
const EXIT_KILLED_INSIDE = 88

interface SandboxWords {
  id: string
  memoryBytes: number
  pidsCount: number
  /** The kernel's bytecode for this Python, if there is any. */
  compiled: Buffer | undefined
  /** The descriptor that `StdioProcess` rings, if there is one. */
  bell?: number
  /** Path of a socket for its frames. If the sandbox can connect to it, its stdin becomes the bell. */
  channel?: string | undefined
  /** Successive bridges attach to its stdin and stdout: it may outlive them. */
  kept?: 1
  /** Largest file that may be written, where the folders do not limit it. */
  fileBytes?: number
  /** Time without input on stdin after which it ends itself, where nothing else would end it. */
  inputSeconds?: number
}

export interface NativeKernel {
  /** The kernel's modules as one JSON object, path to text. */
  sources: Buffer
  /** Arguments for a python3 that compiles the sources on its stdin. */
  compileArgs: readonly string[]
  /** Returns the arguments of python3, and what it reads before the frames. */
  start(sandbox: SandboxWords): { args: string[]; preamble: Buffer }
  /** Returns what a fork server reads first; each of its sandboxes gets this system call filter. */
  forkServerPreamble(parts: { compiled: Buffer | undefined; filter: Buffer }): Buffer
}

let loaded: NativeKernel | undefined

/**
 * Loads the kernel from disk once. Synchronous: the bridge loads its code meanwhile, and each asynchronous read would
 * queue behind that.
 * @throws what node:fs throws, for example if no file descriptor is left; the next call tries again
 */
export function loadNativeKernel(): NativeKernel {
  loaded ??= load()
  return loaded
}

function load(): NativeKernel {
  const files = readdirSync(path.join(KERNEL_FOLDER, PACKAGE), { encoding: 'utf8', recursive: true })
    .filter((file) => file.endsWith('.py'))
    .map((file) => `${PACKAGE}/${file.replaceAll('\\', '/')}`)
    .toSorted()
  const entries = files.map((file) => [file, textOf(file)])
  const sources = Buffer.from(JSON.stringify(Object.fromEntries(entries)))
  const init = firstProcess()
  const kept = programOf([...KEEPER_FILES, ...INIT_FILES], 'main()')
  const start = ({ id, memoryBytes, pidsCount, compiled = Buffer.alloc(0), ...optional }: SandboxWords) => {
    const sizes = `kernelBytes=${sources.byteLength} codeBytes=${compiled.byteLength}`
    // The id is for people who look at a list of processes.
    const more = Object.entries(optional)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => ` ${key}=${value}`)
    const words = `id=${id} ${sizes} memoryBytes=${memoryBytes} pids=${pidsCount}${more.join('')}`
    const program = optional.kept === undefined ? init : kept
    return { args: ['-I', '-B', '-c', program, words], preamble: Buffer.concat([sources, compiled]) }
  }
  const forkServerPreamble: NativeKernel['forkServerPreamble'] = ({ compiled = Buffer.alloc(0), filter }) => {
    const parts = [sources, compiled, filter]
    const sizes = parts.map(({ byteLength }) => String(byteLength).padStart(SIZE_DIGITS)).join('')
    return Buffer.concat([Buffer.from(sizes), ...parts])
  }
  return { sources, compileArgs: ['-I', '-B', '-c', programOf(['compile_kernel.py'])], start, forkServerPreamble }
}

let forkServer: string | undefined

/**
 * Returns the arguments of python3 for a fork server with `slotCount` slots. They do not contain the kernel's code,
 * which is read while that Python starts. Loaded once, like the kernel: another version may be installed meanwhile.
 * @throws what node:fs throws
 */
export function forkServerArguments({ id, slotCount }: { id: string; slotCount: number }): string[] {
  forkServer ??= programOf([...INIT_FILES, FORK_SERVER_FILE], 'serve()')
  return ['-I', '-B', '-c', forkServer, `id=${id} slots=${slotCount}`]
}

export function firstProcess(): string {
  return programOf(INIT_FILES, 'main()')
}

function programOf(files: readonly string[], begin = ''): string {
  return [...files.map((file) => textOf(file)), begin].join('\n')
}

function textOf(file: string): string {
  return readFileSync(path.join(KERNEL_FOLDER, file), 'utf8')
}

/** The kernel's environment, with nothing from the host. @param threads for numerical libraries and spin.py */
export function kernelEnvironment(threads: number): Record<string, string> {
  return {
    HOME: '/workspace',
    TMPDIR: '/tmp',
    USER: 'sandbox',
    LOGNAME: 'sandbox',
    LANG: 'C.UTF-8',
    TERM: 'xterm',
    // Not in /workspace, which belongs to the cells.
    XDG_CACHE_HOME: '/tmp/cache',
    MPLBACKEND: 'agg',
    MPLCONFIGDIR: '/tmp/matplotlib',
    OMP_NUM_THREADS: String(threads),
    OPENBLAS_NUM_THREADS: String(threads),
  }
}

/** @throws BridgeError CONFIG_INVALID for a limit that is too low for Python */
export function checkMemoryLimit({ memoryBytes }: SandboxLimits): void {
  if (Number.isSafeInteger(memoryBytes) && memoryBytes >= 64 * 2 ** 20) return
  throw new BridgeError('CONFIG_INVALID', `A sandbox needs 64 MiB of memory or more, not ${memoryBytes} bytes.`, {
    hint: 'Set MCP_BRIDGE_MEMORY to 64m or more.',
  })
}

/** Says why a Python ended before it was a kernel: a missing part of it before the traceback that names it. */
export function whyNoKernel(stderr: string): string {
  const [missing] = /^(?:ModuleNotFoundError|ImportError): .+$/m.exec(stderr) ?? []
  if (missing !== undefined) return `it lacks a part of the standard library that the kernel needs (${missing})`
  return stderr || 'it said nothing'
}

/** Explains the exit of a native sandbox. Special codes come only from its first process, never from a cell. */
export function explainEnd({ code, signal, stderr }: ProcessEnd): Explained {
  if (code === EXIT_OUT_OF_MEMORY) return { reason: 'out-of-memory', detail: stderr }
  if (code === EXIT_PYTHON_TOO_OLD) return { reason: 'failed-to-start', detail: stderr }
  if (code === EXIT_KILLED_INSIDE) return { reason: 'exited', signal: 'SIGKILL', detail: stderr }
  // Engines report 128 + SIGKILL if the first process was killed.
  if (signal !== null || code === 137) return { reason: 'killed', detail: stderr }
  const crash = exitSignal(code)
  return { reason: 'exited', detail: stderr, ...(crash && { signal: crash }) }
}
