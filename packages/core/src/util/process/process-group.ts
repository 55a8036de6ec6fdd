// Stops a child process and everything it started. On POSIX, spawn the child `detached`, so that it leads its own
// process group. If the bridge exits in a way that still runs JavaScript, it kills the remaining groups.
import { type ChildProcess, execFile, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { foundProgram } from './find-program.ts'
import { isRunning } from './process-id.ts'
import { orUndefined } from '../or-undefined.ts'

/** Grace after stdin is closed, and again after SIGTERM. With the wait after SIGKILL, stopping takes at most 2 s. */
const GRACE_MS = 750
const AFTER_KILL_MS = 400
const POLL_MS = 15

const live = new Set<number>()
let exitHookInstalled = false
let onChange = (): void => {}

export const NO_MORE_FILES = 'no more files can be opened'

/** False if no file was left for its pipes: Node then makes no streams, and an `error` that would end this process. */
export function hasStreams(child: ChildProcess): boolean {
  child.on('error', () => {})
  return (child.stdio as unknown) !== undefined
}

/** Lets Linux, where memory runs out, end this child and what it starts rather than the bridge. */
export function endFirst({ pid }: Pick<ChildProcess, 'pid'>): void {
  if (process.platform !== 'linux' || pid === undefined) return
  // It may have ended, or belong to another user.
  orUndefined(() => writeFileSync(`/proc/${pid}/oom_score_adj`, '1000'))
  // On a busy machine, its main thread has started others before: those from now on inherit the number.
  const children = orUndefined(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))
  for (const child of children?.match(/\d+/g) ?? []) endFirst({ pid: Number(child) })
}

/** Record a detached child's group, so that it is killed if the bridge exits without stopping it. */
export function trackGroup(pid: number): void {
  live.add(pid)
  onChange()
  if (exitHookInstalled) return
  exitHookInstalled = true
  process.once('exit', () => {
    if (process.platform === 'win32') killTreesNow([...live])
    else for (const group of live) signalGroup(group, 'SIGKILL')
  })
}

/** Calls `listener` with the groups of this process whenever they have changed: see `trackGroup`. */
export function watchGroups(listener: (pids: readonly number[]) => void): void {
  onChange = () => listener([...live])
}

/** Another process ends the group, also after the bridge has exited. */
export function untrackGroup(pid: number): void {
  live.delete(pid)
  onChange()
}

/** Closes stdin, waits, sends SIGTERM to its group, waits, then SIGKILL. Never throws; resolves within 2 s. */
export async function endGroup(child: ChildProcess): Promise<void> {
  const pid = child.pid
  if (pid === undefined) return
  try {
    child.stdin?.end()
    if (process.platform === 'win32') return await endTree(child, pid)
    // A server that exits at end of file does so at once. Processes it leaves behind are signalled below.
    if (await waitUntil(() => hasExited(child), GRACE_MS, child)) {
      if (!groupExists(pid)) return
    }
    signalGroup(pid, 'SIGTERM')
    if (await waitUntil(() => hasExited(child) && !groupExists(pid), GRACE_MS, child)) return
    signalGroup(pid, 'SIGKILL')
    // Wait only for the child: others of the group seem to exist until init reaps them.
    await waitUntil(() => hasExited(child), AFTER_KILL_MS, child)
  } finally {
    untrackGroup(pid)
  }
}

/** True while the group has a process; on Windows, which has no groups, while the child runs. */
export function groupExists(pid: number): boolean {
  return process.platform === 'win32' ? isRunning(pid) : signalGroup(pid, 0)
}

function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch (error) {
    // EPERM: a process exists that we may not signal (a setuid helper).
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Sends a signal to a detached child and everything it started; on Windows, ends them before it returns. */
export function signalTree(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  if (process.platform !== 'win32') return void signalGroup(child.pid, signal)
  killTreesNow([child.pid])
  child.kill()
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

async function waitUntil(done: () => boolean, timeoutMs: number, child: ChildProcess): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (!done()) {
    const left = deadline - performance.now()
    if (left <= 0) return false
    await exitOrDelay(child, Math.min(left, hasExited(child) ? POLL_MS : left))
  }
  return true
}

function exitOrDelay(child: ChildProcess, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer)
      child.off('exit', finish)
      resolve()
    }
    const timer = setTimeout(finish, ms)
    if (!hasExited(child)) child.once('exit', finish)
  })
}

async function endTree(child: ChildProcess, pid: number): Promise<void> {
  if (await waitUntil(() => hasExited(child), GRACE_MS, child)) return
  const { found, args, options } = taskkill([pid])
  await new Promise<void>((resolve) => execFile(found.file, args, options, () => resolve()))
}

/** Windows only. A process that ends takes the programs with it that it has begun to start: it has to wait for this. */
function killTreesNow(pids: readonly number[]): void {
  if (pids.length === 0) return
  const { found, args, options } = taskkill(pids)
  spawnSync(found.file, args, { ...options, stdio: 'ignore', timeout: GRACE_MS })
}

function taskkill(pids: readonly number[]) {
  const found = foundProgram('taskkill')
  const args = ['/T', '/F', ...pids.flatMap((pid) => ['/pid', String(pid)])]
  return { found, args, options: { env: found.env, windowsHide: true } }
}

const SIGNALS =
  'HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG'
    .split(' ')
    .map((name) => `SIG${name}` as NodeJS.Signals)

/** Returns the signal for a code of 128 + its number. */
export function exitSignal(code: number | null): NodeJS.Signals | undefined {
  return code === null ? undefined : SIGNALS[code - 129]
}
