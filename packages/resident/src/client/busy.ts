// Tells a resident that works from one that hangs: while its thread takes time of a processor, it will answer.
import { readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 1_000

/**
 * Whether a process works. False where that cannot be told: on Windows, and of a process that is not there.
 * @param link to the process id
 */
export async function isBusy(link: string): Promise<boolean> {
  const pid = pidOf(link)
  const before = pid && (await timeOf(pid))
  if (before === undefined) return false
  await sleep(LOOK_MS, undefined, { ref: false })
  const after = await timeOf(pid!)
  return after !== undefined && after !== before
}

function pidOf(link: string): string | undefined {
  try {
    return /^\d+$/.exec(readlinkSync(link))?.[0]
  } catch {
    return undefined
  }
}

/** How long it has run on a processor, in any unit. */
async function timeOf(pid: string): Promise<string | undefined> {
  if (process.platform === 'linux') {
    try {
      // Of its first thread, which runs the event loop. The name in brackets may have spaces.
      const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')
      const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      // It runs, or waits for a processor.
      return state === 'R' ? String(performance.now()) : fields.slice(10, 12).join(' ')
    } catch {
      return undefined
    }
  }
  if (process.platform === 'win32') return undefined
  const { execFile } = process.getBuiltinModule('node:child_process')
  return new Promise((resolve) => {
    execFile('/bin/ps', ['-o', 'time=', '-p', pid], (error, time) => resolve(error ? undefined : time))
  })
}
