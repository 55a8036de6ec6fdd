// What a process and all that it has started use: read from /proc, so on Linux only. A process that ends meanwhile is left out.
import { readFile } from 'node:fs/promises'

export interface ProcessUsage {
  /** Resident memory of all of them. What they share counts for each. */
  memoryBytes: number
  /** Of the processor, by those that are there. */
  cpuMs: number
}

const PAGE_BYTES = 4096
/** Of Linux, whatever its timer: `getconf CLK_TCK`. */
const TICK_MS = 10
const MAX_PROCESSES = 2_000

/** Undefined where it cannot be known. */
export async function processTreeUsage(root: number): Promise<ProcessUsage | undefined> {
  if (process.platform !== 'linux') return undefined
  const total: ProcessUsage = { memoryBytes: 0, cpuMs: 0 }
  const open = [root]
  for (let count = 0; open.length > 0 && count < MAX_PROCESSES; count += 1) {
    const pid = open.pop()!
    const usage = await usageOf(pid)
    if (!usage && pid === root) return undefined
    total.memoryBytes += usage?.memoryBytes ?? 0
    total.cpuMs += usage?.cpuMs ?? 0
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
    open.push(...children.split(' ').filter(Boolean).map(Number))
  }
  return total
}

async function usageOf(pid: number): Promise<ProcessUsage | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name of the program is in parentheses, and may hold anything. Fields 14, 15 and 24 of proc(5).
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [user, system, pages] = [fields[11], fields[12], fields[21]].map(Number)
  if (text === '' || user === undefined || system === undefined || pages === undefined) return undefined
  return { memoryBytes: pages * PAGE_BYTES, cpuMs: (user + system) * TICK_MS }
}
