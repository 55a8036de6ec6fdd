// Which bridge a container belongs to, written into its name and labels, and the removal of containers whose bridge is gone.
// A container is removed only when its owner certainly cannot be alive: same machine, same user, process not there any more.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { runCommand } from '../../process/run-command.ts'
import type { Engine } from './probe-engine.ts'
import { hostId, isRunning } from '../../process/process-id.ts'

const NAME = /^sandbridge-(\d+)-(\d+)-[0-9a-f]+$/

/** A name for a new container of this bridge: process id, start time of the process, and something random. */
export function newContainerName(): string {
  return `sandbridge-${process.pid}-${startTime(process.pid) ?? '0'}-${randomBytes(6).toString('hex')}`
}

/** Labels of a container of this bridge. The sandbox is the one that the log names. */
export function ownerLabels(sandboxId: string): Record<string, string> {
  return { 'sandbridge.host': hostId(), 'sandbridge.bridge': String(process.pid), 'sandbridge.sandbox': sandboxId }
}

/** Remove what dead bridges of this user left in an engine. Returns the names of what it removed. */
export async function removeLeftovers(engine: Pick<Engine, 'command'>): Promise<string[]> {
  const filter = `label=sandbridge.host=${hostId()}`
  const { stdout } = await runCommand(engine.command, ['ps', '--all', '--filter', filter, '--format', '{{.Names}}'])
  const left = stdout.split(/\s+/).filter((name) => isLeftover(name))
  if (left.length > 0) await runCommand(engine.command, ['rm', '--force', '--volumes', ...left])
  return left
}

/** Whether a container of this name belongs to a bridge that is gone. A name of another form is never ours to judge. */
export function isLeftover(name: string): boolean {
  const [, pid, started] = NAME.exec(name) ?? []
  if (pid === undefined || started === undefined) return false
  if (!isRunning(Number(pid))) return true
  // The process id may have been used again. Where start times cannot be read, assume it was not.
  const now = startTime(Number(pid))
  return now !== undefined && started !== '0' && now !== started
}

/** Start of a process in clock ticks since boot; undefined where there is no /proc. */
function startTime(pid: number): string | undefined {
  try {
    // Field 22; the second one, the name, is in parentheses and may hold anything.
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')[19]
  } catch {
    return undefined
  }
}
