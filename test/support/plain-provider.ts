// Stands in the place of src/isolation/pyodide/provider.ts in the bridge of plain-bridge.mjs, and in that of a bridge
// in the test's own process.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { StdioProcess } from '../../src/isolation/local/stdio-process.ts'
import { PyodideProvider as Embedded, type PyodideOptions } from '../../src/isolation/pyodide/provider.ts'
import type { Sandbox, SandboxLimits } from '../../src/isolation/provider.ts'
import { kernelEnv } from './plain-kernel.ts'

/** A cell that fills the memory must not fill that of the machine. An interpreter reserves more than it uses. */
const MEMORY_BYTES = 2 ** 31

/** The embedded sandbox, or a plain kernel where SANDBRIDGE_TEST_CELLS names what starts one: see plain-kernels/. */
export class PyodideProvider extends Embedded {
  readonly #starter: string[] | undefined
  #count = 0

  constructor(options: PyodideOptions, starter = process.env['SANDBRIDGE_TEST_CELLS']) {
    super(options)
    this.#starter = starter?.split('\n')
  }

  override async prepare(onProgress?: (message: string) => void): Promise<void> {
    if (this.#starter === undefined) await super.prepare(onProgress)
  }

  override async start(limits: SandboxLimits): Promise<Sandbox> {
    if (this.#starter === undefined) return super.start(limits)
    const [command = '', ...args] = this.#starter
    const folder = mkdtempSync(path.join(tmpdir(), 'sb-cells-'))
    const home = path.join(folder, 'home')
    const cwd = path.join(folder, 'workspace')
    for (const one of [home, cwd]) mkdirSync(one)
    this.#count += 1
    const sandbox = new StdioProcess({
      id: `plain-python-${process.pid}-${this.#count}`,
      provider: this.name,
      command,
      // The projects of this machine are not for tests.
      args: [...args, path.join(folder, 'projects'), String(MEMORY_BYTES)],
      bell: true,
      cwd,
      env: { ...kernelEnv(), HOME: home },
      explain: ({ signal, stderr }) => ({ reason: signal === null ? 'exited' : 'killed', detail: stderr }),
    })
    void sandbox.exited.then(() => rmSync(folder, { recursive: true, force: true }))
    return sandbox
  }
}
