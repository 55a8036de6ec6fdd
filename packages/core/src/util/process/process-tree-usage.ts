// The resources of a process and its descendants, from /proc: on Linux only.
import { readFile } from 'node:fs/promises'

export interface ProcessUsage {
  /** Resident memory of all processes. Shared memory counts for each. */
  memoryBytes: number
  /** CPU time of the processes that still exist. */
  cpuMs: number
}

const PAGE_BYTES = 4096
/** Linux reports 100 ticks a second whatever its timer: `getconf CLK_TCK`. */
const TICK_MS = 10
const MAX_PROCESSES = 2_000

/** Returns undefined if the usage cannot be determined. */
export async function processTreeUsage(root: number): Promise<ProcessUsage | undefined> {
  if (process.platform !== 'linux') return undefined
  const total: ProcessUsage = { memoryBytes: 0, cpuMs: 0 }
  for (const pid of await processTree(root)) {
    const usage = await usageOf(pid)
    if (!usage && pid === root) return undefined
    total.memoryBytes += usage?.memoryBytes ?? 0
    total.cpuMs += usage?.cpuMs ?? 0
  }
  return total
}

/** The process and its descendants; the process alone where /proc does not list them. */
export async function processTree(root: number): Promise<number[]> {
  const tree = [root]
  for (let at = 0; at < tree.length && tree.length < MAX_PROCESSES; at += 1) {
    const pid = tree[at]!
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
    tree.push(...children.split(' ').filter(Boolean).map(Number))
  }
  return tree
}

async function usageOf(pid: number): Promise<ProcessUsage | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The program's name is in parentheses and can contain anything. Fields 14, 15 and 24 of proc(5).
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [user, system, pages] = [fields[11], fields[12], fields[21]].map(Number)
  if (text === '' || user === undefined || system === undefined || pages === undefined) return undefined
  return { memoryBytes: pages * PAGE_BYTES, cpuMs: (user + system) * TICK_MS }
}
