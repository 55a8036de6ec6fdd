// Starts the command of a sandbox with an empty environment, and reads from its end why it ended. It knows nothing of Python.
import { randomUUID } from 'node:crypto'
import type { SandboxExit } from '../provider.ts'
import { StdioProcess, type ProcessEnd } from '../stdio-process.ts'

// What V8, the C++ library and our own child say when memory is used up.
const OUT_OF_MEMORY = /out of memory|allocation failed|Cannot allocate memory|bad_alloc|OOM error/i

/** A running sandbox process. `extraInput` is what it can read from file descriptor 3. */
export function spawnSandbox(command: string[], extraInput?: Buffer): StdioProcess {
  const [program, ...args] = command as [string, ...string[]]
  return new StdioProcess({
    id: randomUUID(),
    provider: 'pyodide',
    command: program,
    args,
    env: {},
    ...(extraInput && { extraInputs: [extraInput] }),
    explain: (end) => ({ reason: reasonOf(end), detail: end.stderr }),
  })
}

/** Why a sandbox process ended that nobody disposed of. Only text that cannot come from the code inside is looked at. */
export function reasonOf({ code, stderr, spoke }: ProcessEnd): SandboxExit['reason'] {
  if (OUT_OF_MEMORY.test(stderr)) return 'out-of-memory'
  if (!spoke) return 'failed-to-start'
  if (stderr.includes('sandbridge: the kernel ended')) return 'exited'
  return code === null ? 'killed' : 'exited'
}
