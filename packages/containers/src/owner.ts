// Marks containers with their bridge, in name and labels, and removes those whose bridge is gone.
// Removes a container only if its owner certainly has ended: same machine, same user, and the process no longer exists.
import { randomBytes } from 'node:crypto'
import { hostId, isRunning, runCommand, startTime } from '@sandbridge/core/util/process'
import type { Engine } from './probe-engine.ts'

const NAME = /^sandbridge-(\d+)-(\d+)-[0-9a-f]+$/

/** Returns a name for a new container: the bridge's process id and start time, and random digits. */
export function newContainerName(): string {
  return `sandbridge-${process.pid}-${startTime(process.pid) ?? '0'}-${randomBytes(6).toString('hex')}`
}

/** Labels for a container of this bridge. The sandbox id is the one in logs. */
export function ownerLabels(sandboxId: string): Record<string, string> {
  return { 'sandbridge.host': hostId(), 'sandbridge.bridge': String(process.pid), 'sandbridge.sandbox': sandboxId }
}

/** Remove containers that this user's ended bridges left in an engine. Returns their names. */
export async function removeLeftovers(engine: Pick<Engine, 'command'>): Promise<string[]> {
  const filter = `label=sandbridge.host=${hostId()}`
  const { stdout } = await runCommand(engine.command, ['ps', '--all', '--filter', filter, '--format', '{{.Names}}'])
  const left = stdout.split(/\s+/).filter((name) => isLeftover(name))
  // Each alone: when one of several is already gone, podman 4.3 removes none and reports success.
  for (const name of left) await runCommand(engine.command, ['rm', '--force', '--volumes', name])
  return left
}

/** True if a container of this name belongs to a bridge that is gone. False for names in any other form. */
export function isLeftover(name: string): boolean {
  const [, pid, started] = NAME.exec(name) ?? []
  if (pid === undefined || started === undefined) return false
  if (!isRunning(Number(pid))) return true
  // The process id may have been reused. Where start times are unknown, assume that it was not.
  const now = startTime(Number(pid))
  return now !== undefined && started !== '0' && now !== started
}
