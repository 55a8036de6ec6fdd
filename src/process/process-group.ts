// Ends a child process together with everything it started. The child must have been spawned `detached` on POSIX, so that it leads a group of its own.
// Whatever way the bridge ends that still runs JavaScript, groups that are left are killed.
import { execFile, type ChildProcess } from 'node:child_process'

/** Grace after stdin was closed, and again after SIGTERM; with the wait after SIGKILL an end takes 2 s at most. */
const GRACE_MS = 750
const AFTER_KILL_MS = 400
const POLL_MS = 15

const live = new Set<number>()
let exitHookInstalled = false

/** Remember a detached child's group, so that it is killed if the bridge exits without ending it. */
export function trackGroup(pid: number): void {
  live.add(pid)
  if (exitHookInstalled) return
  exitHookInstalled = true
  process.once('exit', () => {
    for (const group of live) signalGroup(group, 'SIGKILL')
  })
}

/** Close the child's stdin, wait, SIGTERM its group, wait, SIGKILL what is left. Never throws; resolves within 2 s. */
export async function endGroup(child: ChildProcess): Promise<void> {
  const pid = child.pid
  if (pid === undefined) return
  try {
    child.stdin?.end()
    if (process.platform === 'win32') return await endTree(child, pid)
    // A server that ends on end of file does so at once; what it leaves behind has its own turn below.
    if (await waitUntil(() => hasExited(child), GRACE_MS, child)) {
      if (!groupExists(pid)) return
    }
    signalGroup(pid, 'SIGTERM')
    if (await waitUntil(() => hasExited(child) && !groupExists(pid), GRACE_MS, child)) return
    signalGroup(pid, 'SIGKILL')
    // Not for the group: the other processes are not our children, and seem to exist until init has reaped them.
    await waitUntil(() => hasExited(child), AFTER_KILL_MS, child)
  } finally {
    live.delete(pid)
  }
}

/** True while a process of the group is left. */
function groupExists(pid: number): boolean {
  return signalGroup(pid, 0)
}

function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch (error) {
    // EPERM: there is one, and it is not ours to signal (a setuid helper).
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
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
  await new Promise<void>((resolve) => execFile('taskkill', ['/pid', String(pid), '/T', '/F'], () => resolve()))
}
