// CPU time and context switches of processes, from /proc. Unlike wall time, both are meaningful on a machine with other
// load. Linux only.
import { readdirSync, readFileSync } from 'node:fs'
import { type RunningProcess, runningProcesses } from '@sandbridge/core/test/support/machine/processes.ts'

export interface Use {
  microseconds: number
  switches: number
}

const SWITCHES = /^(?:non)?voluntary_ctxt_switches:\s+(\d+)/gm

/** What all threads of the processes have used since they started; processes that have exited count 0. */
export function useOf(pids: readonly number[]): Use {
  let microseconds = 0
  let switches = 0
  for (const pid of pids) {
    try {
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const folder = `/proc/${pid}/task/${thread}`
        microseconds += Number(readFileSync(`${folder}/schedstat`, 'utf8').split(' ')[0]) / 1000
        for (const [, count] of readFileSync(`${folder}/status`, 'utf8').matchAll(SWITCHES)) switches += Number(count)
      }
    } catch {
      // It has just exited.
    }
  }
  return { microseconds, switches }
}

/** A process and all its descendants. */
export function treeOf(pid: number, all: readonly RunningProcess[] = runningProcesses()): number[] {
  return [pid, ...all.filter(({ parent }) => parent === pid).flatMap((child) => treeOf(child.pid, all))]
}
