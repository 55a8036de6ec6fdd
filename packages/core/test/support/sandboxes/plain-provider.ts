// Stands in the place of packages/core/src/isolation/pyodide/provider.ts in the bridge of plain-bridge.mjs, and in that
// of a bridge in the test's own process.
import { mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { PyodideProvider as Embedded, type PyodideOptions } from '../../../src/isolation/pyodide/provider.ts'
import type { Sandbox, SandboxLimits } from '../../../src/isolation/provider.ts'
import { startPlainKernel } from './plain-kernel.ts'
import { newFolder } from '../machine/new-folder.ts'

/** A cell that fills the memory must not fill that of the machine. An interpreter reserves more than it uses. */
const MEMORY_BYTES = 2 ** 31

/** The embedded sandbox, or a plain kernel where SANDBRIDGE_TEST_CELLS names an interpreter. */
export class PyodideProvider extends Embedded {
  readonly #python: string | undefined

  constructor(options: PyodideOptions, python = process.env['SANDBRIDGE_TEST_CELLS']) {
    super(options)
    this.#python = python
  }

  override async prepare(onProgress?: (message: string) => void): Promise<void> {
    if (this.#python === undefined) await super.prepare(onProgress)
  }

  override async start(limits: SandboxLimits): Promise<Sandbox> {
    const python = this.#python
    if (python === undefined) return super.start(limits)
    const folder = newFolder()
    const home = path.join(folder, 'home')
    const cwd = path.join(folder, 'workspace')
    for (const one of [home, cwd]) mkdirSync(one)
    const sandbox = startPlainKernel({
      provider: this.name,
      python,
      cwd,
      env: { HOME: home },
      // The one of this machine is not for tests.
      projects: path.join(folder, 'projects'),
      memoryBytes: MEMORY_BYTES,
    })
    void sandbox.exited.then(() => rmSync(folder, { recursive: true, force: true }))
    return sandbox
  }
}
