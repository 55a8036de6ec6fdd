// Finds a sandbox's process id on this machine. The fork server knows only the id in its own namespace.
import { readFile } from 'node:fs/promises'

/**
 * Finds the first process of a PID namespace.
 * @param root process id of bubblewrap, whose child forks sandboxes
 * @param innerPid id of the process in the namespace of that child
 */
export async function findForked(root: number, innerPid: number): Promise<number | undefined> {
  for (const server of await childrenOf(root)) {
    for (const pid of await childrenOf(server)) {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
      // Ids of the process, from our namespace down to its own.
      const ids = /^NSpid:\t(.*)$/m.exec(status)?.[1]?.split('\t')
      if (ids?.at(-1) === '1' && ids.at(-2) === String(innerPid)) return pid
    }
  }
  return undefined
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}
