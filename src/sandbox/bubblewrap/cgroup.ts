// Control groups for sandboxes, where the host lets this user make some: cgroup v2, whose memory and process limits count everything
// (Linux, Documentation/admin-guide/cgroup-v2.rst, "Delegation"). Where it does not, the sandbox's own limits are all there is.
import { access, constants, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRunning } from '../../process/process-id.ts'

export interface CgroupLimits {
  memoryBytes: number
  pidsCount: number
}

const CONTROLLERS = ['memory', 'pids']
/** The name of a sandbox has the process id of its bridge. */
const NAME = /^sandbridge-(\d+)-/
const REMOVE_TRIES = 50
const REMOVE_AGAIN_MS = 20

/**
 * The folder in which cgroups with limits can be made: the nearest one above this process that its user may write to and that no process is in.
 * Empty ones that a killed bridge has left there are removed. @returns undefined where there is none
 */
export async function findCgroupParent(
  root = '/sys/fs/cgroup',
  membershipFile = '/proc/self/cgroup',
): Promise<string | undefined> {
  const membership = await readFile(membershipFile, 'utf8').catch(() => '')
  const own = /^0::(\/.*)$/m.exec(membership)?.[1]
  // A path that leads out of what is mounted here is of another namespace.
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
    // Moving a process needs write access to a folder above both places.
    await access(path.join(folder, 'cgroup.procs'), constants.W_OK)
    // Refused by the kernel where a process is in the folder itself.
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

  /** @param id begins with `sandbridge-` and the process id of this bridge */
  static async make(parent: string, id: string, { memoryBytes, pidsCount }: CgroupLimits): Promise<Cgroup> {
    const folder = path.join(parent, id)
    await mkdir(folder)
    const cgroup = new Cgroup(folder)
    try {
      await writeFile(path.join(folder, 'memory.max'), String(memoryBytes))
      await writeFile(path.join(folder, 'pids.max'), String(pidsCount))
      // A kernel that counts no swap has no such file.
      await writeFile(path.join(folder, 'memory.swap.max'), '0').catch(() => {})
      await writeFile(path.join(folder, 'memory.oom.group'), '1')
    } catch (error) {
      await cgroup.remove()
      throw error
    }
    return cgroup
  }

  /** The command that runs in it from its first instruction on. */
  command({ command, args }: { command: string; args: readonly string[] }): { command: string; args: string[] } {
    const procs = path.join(this.#folder, 'cgroup.procs')
    return { command: '/bin/sh', args: ['-c', 'echo $$ > "$0" && exec "$@"', procs, command, ...args] }
  }

  /** Take in a process that runs already, with what it starts from now on. */
  async add(pid: number): Promise<void> {
    await writeFile(path.join(this.#folder, 'cgroup.procs'), String(pid))
  }

  /** Whether the kernel has ended it because of its memory limit. */
  async wasOutOfMemory(): Promise<boolean> {
    const events = await readFile(path.join(this.#folder, 'memory.events'), 'utf8').catch(() => '')
    return /^oom_kill [1-9]/m.test(events)
  }

  /** Ends what is still in it. */
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
