// What a sandbox with a real python3 is started with: the text of its first process and the kernel's sources, sent over stdin.
// Sent rather than mounted, so that no host path is in the sandbox and an engine on another machine needs no file of this one.
import { KERNEL_FOLDER } from '../package-root.ts'
import { readFile, readdir } from 'node:fs/promises'
import path from 'node:path'
import type { ProcessEnd } from './stdio-process.ts'
import { BridgeError } from '../errors.ts'
import type { SandboxExit, SandboxLimits } from './provider.ts'

const INIT_FILE = 'sandbox_init.py'

// Partners of the codes in python/sandbox_init.py.
const EXIT_OUT_OF_MEMORY = 86
const EXIT_PYTHON_TOO_OLD = 87

export interface NativeKernel {
  /** Arguments of python3. */
  args(sandbox: { id: string; memoryBytes: number; pidsCount: number }): string[]
  /** What the first process reads before the frames begin. */
  sources: Buffer
}

let loaded: Promise<NativeKernel> | undefined

/** The kernel, read from disk once. */
export function loadNativeKernel(): Promise<NativeKernel> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<NativeKernel> {
  const files = (await readdir(KERNEL_FOLDER, { recursive: true }))
    .filter((file) => file.endsWith('.py') && file !== INIT_FILE)
    .toSorted()
  const texts = await Promise.all(files.map((file) => readFile(path.join(KERNEL_FOLDER, file), 'utf8')))
  const entries = files.map((file, index) => [file.replaceAll('\\', '/'), texts[index]])
  const sources = Buffer.from(JSON.stringify(Object.fromEntries(entries)))
  const init = await readFile(path.join(KERNEL_FOLDER, INIT_FILE), 'utf8')
  return {
    sources,
    args: ({ id, memoryBytes, pidsCount }) => [
      '-I',
      '-B',
      '-c',
      init,
      // The id is for people who look at a list of processes.
      `id=${id} kernelBytes=${sources.byteLength} memoryBytes=${memoryBytes} pids=${pidsCount}`,
    ],
  }
}

/** Environment of the kernel: nothing of the host's. `threads` keeps numerical libraries from starting one for each CPU of the host. */
export function kernelEnvironment(threads: number): Record<string, string> {
  return {
    HOME: '/workspace',
    TMPDIR: '/tmp',
    USER: 'sandbox',
    LOGNAME: 'sandbox',
    LANG: 'C.UTF-8',
    MPLBACKEND: 'agg',
    MPLCONFIGDIR: '/tmp/matplotlib',
    OMP_NUM_THREADS: String(threads),
    OPENBLAS_NUM_THREADS: String(threads),
  }
}

/** @throws BridgeError CONFIG_INVALID for a limit that no Python fits in */
export function checkMemoryLimit({ memoryBytes }: SandboxLimits): void {
  if (Number.isSafeInteger(memoryBytes) && memoryBytes >= 64 * 2 ** 20) return
  throw new BridgeError('CONFIG_INVALID', `A sandbox needs 64 MiB of memory or more, not ${memoryBytes} bytes.`, {
    hint: 'Set MCP_BRIDGE_MEMORY to 64m or more.',
  })
}

/** How a native sandbox ended, as far as its first process knows. */
export function explainEnd({ code, signal, stderr }: ProcessEnd): Pick<SandboxExit, 'reason' | 'detail'> {
  if (code === EXIT_OUT_OF_MEMORY) return { reason: 'out-of-memory', detail: stderr }
  if (code === EXIT_PYTHON_TOO_OLD) return { reason: 'failed-to-start', detail: stderr }
  // 128 + SIGKILL is how engines pass on that the first process was killed.
  if (signal !== null || code === 137) return { reason: 'killed', detail: stderr }
  return { reason: 'exited', detail: stderr }
}
