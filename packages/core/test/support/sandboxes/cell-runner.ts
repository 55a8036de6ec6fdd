// Runs cells in a sandbox through the real host half of a kernel, and collects their effects. Ends the sandbox with the
// test.
import { afterAll, onTestFinished } from 'vitest'
import { BridgeError } from '../../../src/errors.ts'
import { Kernel } from '../../../src/cell/kernel/kernel.ts'
import type { OtherLanguage } from '../../../src/config/settings/cells.ts'
import type { CallFrame } from '../../../src/cell/protocol/frames.ts'
import type { Provider, SandboxExit } from '../../../src/isolation/provider.ts'
import type { Sandbox } from '../../../src/isolation/provider.ts'

export const MEMORY_BYTES = 512 * 2 ** 20

export interface CellOutcome {
  /** `died` when the kernel ended in the middle of the cell. */
  status: 'ok' | 'error' | 'interrupted' | 'died'
  output: string
  /** The text of the last expression. */
  value: string | undefined
  error: { name: string; message: string; traceback: string } | undefined
  exit: SandboxExit | undefined
}

type OnCall = (call: CallFrame) => unknown

export class CellRunner {
  readonly kernel: Kernel
  #onOutput: () => void = () => {}
  output = ''
  /** The number of the newest cell. */
  cellCount = 0

  constructor(kernel: Kernel) {
    this.kernel = kernel
  }

  /** Runs a cell to its end, however it ends. `onCall` answers its tool calls. */
  async run(code: string, onCall: OnCall = () => ({ content: [] }), language?: OtherLanguage): Promise<CellOutcome> {
    this.output = ''
    this.cellCount += 1
    try {
      const done = await this.kernel.run({
        code,
        ...(language && { language }),
        servers: [{ name: 'host', alias: 'host' }],
        observer: {
          onOutput: (_stream, text) => {
            this.output += text
            this.#onOutput()
          },
          onDisplay: () => {},
          // The check of the source is not part of the cell: no call is known to be wrong.
          onCall: async (call) => (call.method === 'check_calls' ? [] : onCall(call)),
        },
      })
      const value = done.value?.['text/plain']
      return {
        status: done.status,
        output: this.output,
        value: typeof value === 'string' ? value : undefined,
        error: done.error,
        exit: undefined,
      }
    } catch (error) {
      if (!BridgeError.isInstance(error) || error.code !== 'KERNEL_DIED') throw error
      const exit = await this.kernel.closed
      return { status: 'died', output: this.output, value: undefined, error: undefined, exit }
    }
  }

  /** The value of an expression, through JSON. */
  async evaluate<T>(expression: string): Promise<T> {
    const { status, output, error } = await this.run(`import json\nprint(json.dumps(${expression}))`)
    if (status !== 'ok') throw new Error(`${expression}: ${error?.traceback ?? status}`)
    return JSON.parse(output) as T
  }

  /** Waits until the cell has printed this. */
  async printed(text: string): Promise<void> {
    while (!this.output.includes(text)) await new Promise<void>((resolve) => (this.#onOutput = resolve))
  }
}

/** A ready kernel in a new sandbox, ended with the test. */
export async function startCells(provider: Provider, memoryBytes = MEMORY_BYTES): Promise<CellRunner> {
  return attachCells(await provider.start({ memoryBytes }))
}

/**
 * Starts one sandbox for the tests of a file that leave it usable and do not need a new one, and another one when it
 * has ended. Such a test sets what it reads.
 */
export function sharedCells(provider: Pick<Provider, 'start'>): () => Promise<CellRunner> {
  let shared: CellRunner | undefined
  afterAll(() => shared?.kernel.sandbox.dispose())
  return async () => {
    if (shared) return shared
    const cells = new CellRunner(await Kernel.attach(await provider.start({ memoryBytes: MEMORY_BYTES })))
    void cells.kernel.closed.then(() => (shared = undefined))
    return (shared = cells)
  }
}

export async function attachCells(sandbox: Sandbox): Promise<CellRunner> {
  onTestFinished(() => sandbox.dispose())
  return new CellRunner(await Kernel.attach(sandbox))
}
