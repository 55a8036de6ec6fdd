// Control groups for sandboxes, where the host lets this user create them: cgroup v2 counts everything against its
// memory and process limits (Linux, Documentation/admin-guide/cgroup-v2.rst, "Delegation"). Without them, only the
// sandbox's own limits apply.
import { access, constants, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRunning } from '@sandbridge/core/util/process'

export interface CgroupLimits {
  memoryBytes: number
  pidsCount: number
}

const CONTROLLERS = ['memory', 'pids']
/** A sandbox's name contains the process id of its bridge. */
const NAME = /^sandbridge-(\d+)-/
const REMOVE_TRIES = 50
const REMOVE_AGAIN_MS = 20

/**
 * Finds the folder for new cgroups: the nearest one above this process that its user can write to and that contains no
 * process. Removes empty cgroups that a killed bridge left there. @returns undefined if there is no such folder
 */
export async function findCgroupParent(
  root = '/sys/fs/cgroup',
  membershipFile = '/proc/self/cgroup',
): Promise<string | undefined> {
  const membership = await readFile(membershipFile, 'utf8').catch(() => '')
  const own = /^0::(\/.*)$/m.exec(membership)?.[1]
  // A path that leads out of this mount belongs to another namespace.
  if (own === undefined || own.startsWith('/..')) return undefined
  for (let folder = path.join(root, own); folder.startsWith(root); folder = path.dirname(folder)) {
    if (!(await canLimitIn(folder))) continue
    await removeLeftIn(folder)
    return folder
  }
  return undefined
}

async function canLimitIn(folder: string): Promise<boolean> {
  const has = async (file: string): Promise<boolean> => {
    const names = (await readFile(path.join(folder, file), 'utf8')).trim().split(' ')
    return CONTROLLERS.every((name) => names.includes(name))
  }
  try {
    if (!(await has('cgroup.controllers'))) return false
    // Moving a process needs write access to a folder above both its old and its new cgroup.
    await access(path.join(folder, 'cgroup.procs'), constants.W_OK)
    // The kernel refuses this if a process is in the folder itself.
    if (!(await has('cgroup.subtree_control')))
      await writeFile(path.join(folder, 'cgroup.subtree_control'), CONTROLLERS.map((name) => `+${name}`).join(' '))
    await access(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

async function removeLeftIn(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const owner = NAME.exec(name)?.[1]
    if (owner !== undefined && !isRunning(Number(owner))) await rmdir(path.join(folder, name)).catch(() => {})
  }
}

/** The control group of one sandbox. */
export class Cgroup {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** @param id starts with `sandbridge-` and the process id of this bridge */
  static async make(parent: string, id: string, { memoryBytes, pidsCount }: CgroupLimits): Promise<Cgroup> {
    const folder = path.join(parent, id)
    await mkdir(folder)
    const cgroup = new Cgroup(folder)
    try {
      await writeFile(path.join(folder, 'memory.max'), String(memoryBytes))
      await writeFile(path.join(folder, 'pids.max'), String(pidsCount))
      // The file does not exist if the kernel does not count swap.
      await writeFile(path.join(folder, 'memory.swap.max'), '0').catch(() => {})
      await writeFile(path.join(folder, 'memory.oom.group'), '1')
    } catch (error) {
      await cgroup.remove()
      throw error
    }
    return cgroup
  }

  /** Wraps a command so that it runs in the cgroup from its first instruction. */
  command({ command, args }: { command: string; args: readonly string[] }): { command: string; args: string[] } {
    const procs = path.join(this.#folder, 'cgroup.procs')
    return { command: '/bin/sh', args: ['-c', 'echo $$ > "$0" && exec "$@"', procs, command, ...args] }
  }

  /** Move a running process into the cgroup; its future children belong to it, too. */
  async add(pid: number): Promise<void> {
    await writeFile(path.join(this.#folder, 'cgroup.procs'), String(pid))
  }

  /** True if the kernel killed it because of its memory limit. */
  async wasOutOfMemory(): Promise<boolean> {
    const events = await readFile(path.join(this.#folder, 'memory.events'), 'utf8').catch(() => '')
    return /^oom_kill [1-9]/m.test(events)
  }

  /** Kills the remaining processes and removes the cgroup. */
  async remove(): Promise<void> {
    await writeFile(path.join(this.#folder, 'cgroup.kill'), '1').catch(() => {})
    for (let tries = 0; tries < REMOVE_TRIES; tries += 1) {
      try {
        return await rmdir(this.#folder)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EBUSY') return
        await sleep(REMOVE_AGAIN_MS)
      }
    }
  }
}
