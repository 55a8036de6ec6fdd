// A server in a pod with the interface that its transport expects: the same streams, and how the pod ended.
import { Readable } from 'node:stream'
import type { Program, SandboxExit, StartedProgram } from '../../isolation/provider.ts'
import type { ProcessExit, ServerProcess } from './server-process.ts'

/** Completes a sentence about the server, when its exit code alone says less. */
const WHY: Partial<Record<SandboxExit['reason'], string>> = {
  'out-of-memory': 'ran out of memory in its pod',
  killed: 'was ended with its pod',
  evicted: 'was evicted from its node',
  expired: 'reached the age at which its pod is ended',
  'engine-gone': 'lost the connection to its pod',
}

/** Its node tells how it ended, which a busy one does late. */
const EXIT_KNOWN_MS = 6_000

const NEVER = new Promise<never>(() => {})

/** @throws BridgeError when the cluster refuses the pod */
export async function startInPod(
  program: Omit<Program, 'onStderr'>,
  start: (program: Program) => Promise<StartedProgram>,
): Promise<ServerProcess> {
  const stderr = new Readable({ read: () => {} })
  const started = await start({ ...program, onStderr: (chunk) => void stderr.push(chunk) })
  const { stdin, stdout, attached, exited } = started
  return {
    stdin,
    stdout,
    stderr,
    started: untilAttached(started),
    // A pod that never ran has no exit: `started` reports the reason.
    exited: attached.then((ran) => (ran ? exited.then(exitOf) : NEVER)),
    exitKnownMs: EXIT_KNOWN_MS,
    closed: exited.then(() => void stderr.push(null)),
    end: () => started.dispose(),
  }
}

/** @throws Error with the reason why the pod does not run */
async function untilAttached({ attached, exited }: StartedProgram): Promise<void> {
  if (await attached) return
  const { detail, reason } = await exited
  throw new Error(detail.trim().replace(/\.$/, '') || reason)
}

function exitOf({ reason, code, signal }: SandboxExit): ProcessExit {
  const why = WHY[reason]
  // A container that was killed by a signal shows this only in its exit code.
  return { code, signal: signal ?? (code === null ? 'SIGKILL' : null), ...(why !== undefined && { why }) }
}
