// Plain kernels and Python programs, for tests that skip where there is no Python.
import { spawnSync } from 'node:child_process'
import type { Sandbox } from '../../../src/isolation/provider.ts'
import { skip } from '../suite/needs.ts'
import { pythonProgram, startPlainKernel, whyNoPython } from './plain-kernel.ts'

/** Starts a kernel. The caller disposes of it. */
export const startPlainPython = (): Sandbox =>
  startPlainKernel({ provider: 'bubblewrap' /* the closest one: a native Python on this machine */ })

/** Runs a Python program outside any kernel, to its end. */
export function runPython(args: string[], options: { cwd?: string } = {}) {
  return spawnSync(pythonProgram(), args, { encoding: 'utf8', ...options })
}

/** Skips the test where kernels cannot be tested natively. */
export function needsPython(): void {
  const why = whyNoPython()
  if (why !== undefined) skip(why)
}
