// The command line of a sandbox process: Node's flags, and the memory caps derived from one number. Starts nothing.
import { readFileSync } from 'node:fs'
import { BridgeError } from '../../errors.ts'
import { orUndefined } from '../../util/or-undefined.ts'

const MIB = 1 << 20
const WASM_PAGE_BYTES = 65536
/** The main thread's stack, if unlimited. Deeper recursion in C code raises RecursionError: see boot.js. */
const DEEP_STACK_KIB = 64_000
/** The stack otherwise: the limit and its memory apply to every thread. Too deep recursion ends the sandbox. */
const STACK_KIB = 4096

/** How memory is divided. `dataBytes` limits the process (RLIMIT_DATA); reaching another limit is an ordinary error. */
export interface MemoryPlan {
  heapMaxBytes: number
  filesMaxBytes: number
  v8HeapMib: number
  dataBytes: number
}

/** Memory of Node, its threads and Python's fixed parts, without Python's heap: measured, with headroom. */
const FIXED_BYTES = 208 * MIB
/** Python's heap right after the start, with room for a small program. */
const SMALLEST_HEAP_BYTES = 64 * MIB
export const SMALLEST_MEMORY_BYTES = FIXED_BYTES + SMALLEST_HEAP_BYTES

/**
 * Divide a sandbox's memory. Of what remains without the fixed part, three quarters are Python's heap (then
 * MemoryError), by default enough to read a 50 MB tool result; a tenth is for files (then ENOSPC): a growing file is
 * copied and briefly takes twice its size. The rest is slack.
 * @throws BridgeError CONFIG_INVALID if it is too little for Python to start
 */
export function planMemory(memoryBytes: number): MemoryPlan {
  if (!(memoryBytes >= SMALLEST_MEMORY_BYTES)) {
    throw new BridgeError(
      'CONFIG_INVALID',
      `The embedded sandbox cannot run in ${Math.floor(memoryBytes / MIB)} MiB: it needs ${SMALLEST_MEMORY_BYTES / MIB} MiB`,
      {
        hint: `Set MCP_BRIDGE_MEMORY to ${SMALLEST_MEMORY_BYTES / MIB}m or more, or use another sandbox (MCP_BRIDGE_RUNTIME).`,
      },
    )
  }
  const free = memoryBytes - FIXED_BYTES
  const pages = Math.min(65535, Math.floor((free * 3) / 4 / WASM_PAGE_BYTES))
  const heapMaxBytes = Math.max(pages * WASM_PAGE_BYTES, SMALLEST_HEAP_BYTES)
  return {
    heapMaxBytes,
    filesMaxBytes: Math.floor(free / 10),
    v8HeapMib: 128,
    dataBytes: memoryBytes,
  }
}

export interface NodeFacts {
  version: string
  /** Tells whether Node supports a flag, such as `process.allowedNodeEnvironmentFlags`. */
  allows: (flag: string) => boolean
  /** True if a main stack of any size is allowed. Threads then get 2 MiB each. */
  hasDeepStack: boolean
}

export const thisNode: NodeFacts = {
  version: process.version,
  allows: (flag) => process.allowedNodeEnvironmentFlags.has(flag),
  get hasDeepStack() {
    const limits = orUndefined(() => readFileSync('/proc/self/limits', 'utf8'))
    return /^Max stack size +\S+ +unlimited/m.test(limits ?? '')
  },
}

/** Node's flags for the sandbox process, which may only read one folder and start threads. */
export function nodeFlags(folder: string, memory: MemoryPlan, node: NodeFacts = thisNode): string[] {
  return [
    '--disallow-code-generation-from-strings',
    '--frozen-intrinsics',
    majorOf(node) >= 24 || node.allows('--permission') ? '--permission' : '--experimental-permission',
    '--allow-worker',
    `--allow-fs-read=${folder}`,
    // Otherwise a signal from inside could open the inspector of one of our processes.
    ...(node.allows('--disable-sigusr1') ? ['--disable-sigusr1'] : []),
    '--no-warnings',
    '--v8-pool-size=1',
    // Less than a small stack: V8 needs the rest.
    ...(process.platform === 'linux' ? [`--stack-size=${node.hasDeepStack ? DEEP_STACK_KIB : STACK_KIB - 512}`] : []),
    `--max-old-space-size=${memory.v8HeapMib}`,
    '--wasm-max-committed-code-mb=128',
    `--wasm-max-mem-pages=${memory.heapMaxBytes / WASM_PAGE_BYTES}`,
  ]
}

/** The program and its arguments, which follow the flags. */
export function childArguments(folder: string, mode: 'serve' | 'build' | 'probe', memory: MemoryPlan): string[] {
  const { heapMaxBytes, filesMaxBytes } = memory
  return [`${folder}/child.cjs`, folder, mode, JSON.stringify({ heapMaxBytes, filesMaxBytes })]
}

/**
 * V8 in Node 23 and later reserves half a gibibyte of writable address space for code, and more in Node 25. The
 * operating system counts it as data although it is hardly used, so the cap must exclude it. A flag limits what
 * WebAssembly can really use of it. Measured with 20.20, 22.23, 24.21 and 26.10.
 */
function reservedBytes(node: NodeFacts): number {
  const major = majorOf(node)
  if (major >= 25) return 672 * MIB
  return major >= 23 ? 560 * MIB : 0
}

function majorOf({ version }: NodeFacts): number {
  return Number(/^v?(\d+)/.exec(version)?.[1])
}

export interface Cap {
  platform: NodeJS.Platform
  node: NodeFacts
}

/** Caps a command's private memory and forbids core dumps, where a POSIX shell can. The shell becomes the command. */
export function underMemoryCap(command: string[], memory: MemoryPlan, cap?: Cap): string[] {
  const { platform, node } = cap ?? { platform: process.platform, node: thisNode }
  if (platform !== 'linux') return command
  const kib = Math.floor((memory.dataBytes + reservedBytes(node)) / 1024)
  const limits = `ulimit -c 0; ulimit -s ${node.hasDeepStack ? 'unlimited' : STACK_KIB}; ulimit -d ${kib}; exec "$@"`
  return ['/bin/sh', '-c', limits, 'sandbridge', ...command]
}
