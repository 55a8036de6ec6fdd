// The process id that a sandbox has on this machine: what has forked it knows only the one in its own namespace.
import { readFile } from 'node:fs/promises'

/**
 * Find a first process of a PID namespace.
 * @param root bubblewrap, whose child forks sandboxes
 * @param innerPid its id where that child is
 */
export async function findForked(root: number, innerPid: number): Promise<number | undefined> {
  for (const server of await childrenOf(root)) {
    for (const pid of await childrenOf(server)) {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
      // Its ids from our namespace on, down to its own.
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
