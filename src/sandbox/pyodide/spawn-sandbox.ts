// Starts the command of a sandbox with an empty environment, and reads from its end why it ended. It knows nothing of Python.
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { exitSignal } from '../../process/exit-signal.ts'
import type { SandboxExit } from '../provider.ts'
import type { ProcessEnd } from '../local-sandbox.ts'
import { StdioProcess } from '../stdio-process.ts'

// What V8, the C++ library and our own child say when memory is used up.
const OUT_OF_MEMORY = /out of memory|allocation failed|Cannot allocate memory|bad_alloc|OOM error/i

const CRASHES = new Set(['SIGTRAP', 'SIGABRT', 'SIGSEGV', 'SIGBUS', 'SIGILL'])

/** A running sandbox process. `extraInput` is what it can read from file descriptor 3. */
export function spawnSandbox(command: string[], extraInput?: Buffer): StdioProcess {
  const [program, ...args] = command as [string, ...string[]]
  return new StdioProcess({
    id: randomUUID(),
    provider: 'pyodide',
    command: program,
    args,
    env: {},
    // Not the bridge's own: the shell that sets limits would name it to what it starts.
    cwd: path.parse(process.execPath).root,
    ...(extraInput && { extraInputs: [extraInput] }),
    explain: (end) => ({ reason: reasonOf(end), detail: end.stderr }),
  })
}

/**
 * Why a sandbox process ended by itself. A native crash counts as out of memory: a WebAssembly program that corrupts its heap ends in
 * an error of JavaScript, while Node itself, when the kernel refuses it memory, does not always live to say so.
 */
export function reasonOf({ code, signal, stderr, spoke }: ProcessEnd): SandboxExit['reason'] {
  if (OUT_OF_MEMORY.test(stderr)) return 'out-of-memory'
  if (stderr.includes('sandbridge: Python crashed: recursion too deep')) return 'stack-overflow'
  // Python left by itself, which only a cell makes it do.
  if (stderr.includes('sandbridge: the kernel ended')) return 'exited'
  if (!spoke) return 'failed-to-start'
  if (stderr.includes('sandbridge: ')) return 'exited'
  const ended = signal ?? exitSignal(code)
  if (ended === undefined) return 'exited'
  return CRASHES.has(ended) ? 'out-of-memory' : 'killed'
}
