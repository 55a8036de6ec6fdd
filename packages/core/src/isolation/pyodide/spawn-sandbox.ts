// Starts a sandbox's command with an empty environment, and determines why it ended. Independent of Python.
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { exitSignal } from '../../util/process/process-group.ts'
import type { SandboxExit } from '../provider.ts'
import type { Explained, ProcessEnd } from '../local/local-sandbox.ts'
import { StdioProcess } from '../local/stdio-process.ts'

// Messages of V8, the C++ library and our child process when memory is exhausted.
const OUT_OF_MEMORY = /out of memory|allocation failed|Cannot allocate memory|bad_alloc|OOM error/i

const CRASHES = new Set(['SIGTRAP', 'SIGABRT', 'SIGSEGV', 'SIGBUS', 'SIGILL'])
/** Windows has exit codes in their place, from this one on. */
const FIRST_CRASH_CODE = 0x8000_0000

/** Node gives a process of Windows these of its parent's variables, unless they are set. */
const OF_PARENT = 'HOMEDRIVE HOMEPATH LOGONSERVER PATH TEMP USERDOMAIN USERNAME USERPROFILE'.split(' ')
const NO_VARIABLES = process.platform === 'win32' ? Object.fromEntries(OF_PARENT.map((name) => [name, ''])) : {}

export interface SandboxCommand {
  command: string[]
  /** Descriptor 3 of the command. */
  extraInput?: Buffer
  /** The user that runs it; missing: the bridge's. */
  user?: number
}

export function spawnSandbox({ command, extraInput, user }: SandboxCommand): StdioProcess {
  const [program, ...args] = command as [string, ...string[]]
  return new StdioProcess({
    id: randomUUID(),
    provider: 'pyodide',
    command: program,
    args,
    env: NO_VARIABLES,
    // Not the bridge's own folder: the shell that sets limits would pass its name on.
    cwd: path.parse(process.execPath).root,
    ...(extraInput && { extraInputs: [extraInput] }),
    user,
    explain: explainEnd,
  })
}

const NATIVE_TRACE = /\s*-{3,} Native stack trace[^]*/

/** Describes the end. After Python exits, its process kills itself: that signal says nothing about the cell. */
export function explainEnd(end: ProcessEnd): Explained {
  const reason = reasonOf(end)
  return { reason, detail: end.stderr.replace(NATIVE_TRACE, ''), ...(reason === 'exited' && { signal: null }) }
}

/**
 * Returns why a sandbox process ended by itself. A native crash counts as out of memory: a WebAssembly program that
 * corrupts its heap ends in a JavaScript error, while Node may crash without a message when the system refuses it
 * memory.
 */
export function reasonOf({ code, signal, stderr, spoke }: ProcessEnd): SandboxExit['reason'] {
  if (OUT_OF_MEMORY.test(stderr)) return 'out-of-memory'
  if (stderr.includes('sandbridge: Python crashed: recursion too deep')) return 'stack-overflow'
  // Python exited by itself, which only a cell causes.
  if (stderr.includes('sandbridge: the kernel ended')) return 'exited'
  if (!spoke) return 'failed-to-start'
  if (stderr.includes('sandbridge: ')) return 'exited'
  if (code !== null && code >= FIRST_CRASH_CODE) return 'out-of-memory'
  const ended = signal ?? exitSignal(code)
  if (ended === undefined) return 'exited'
  return CRASHES.has(ended) ? 'out-of-memory' : 'killed'
}
