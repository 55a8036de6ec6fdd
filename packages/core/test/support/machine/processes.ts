// Processes on this machine, for tests that check that nothing is left. Not on Windows.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

export interface RunningProcess {
  pid: number
  parent: number
  group: number
  command: string
}

export function runningProcesses(): RunningProcess[] {
  return process.platform === 'linux' ? fromProc() : fromPs()
}

function fromProc(): RunningProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
        return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent), group: Number(group), command }]
      } catch {
        return [] // it has just ended
      }
    })
}

/** macOS has no /proc. */
function fromPs(): RunningProcess[] {
  const fields = ['pid', 'ppid', 'pgid', 'stat', 'command'].flatMap((name) => ['-o', `${name}=`])
  const { stdout } = spawnSync('ps', ['-A', '-ww', ...fields], { encoding: 'utf8' })
  return [...stdout.matchAll(/^ *(\d+) +(\d+) +(\d+) +([^Z\s]\S*) +(.*)$/gm)].map(
    ([, pid, parent, group, , command = '']) => ({
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      command: `${command} `,
    }),
  )
}

/** All descendants of a process. */
export function descendants(of: number): RunningProcess[] {
  const all = runningProcesses()
  const below = (parent: number): RunningProcess[] =>
    all.filter((process) => process.parent === parent).flatMap((process) => [process, ...below(process.pid)])
  return below(of)
}

/** Waits until `condition` holds; the test's own timeout is the limit. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50))
}
