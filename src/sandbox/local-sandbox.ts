// A sandbox whose processes this machine runs, however they were started: it is interrupted, measured and ended in the same way.
import type { Readable, Writable } from 'node:stream'
import { processTreeUsage, type ProcessUsage } from '../process/process-tree-usage.ts'
import { sendInterrupt } from './interrupt.ts'
import type { ProviderName, Sandbox, SandboxExit } from './provider.ts'

export const STDERR_TAIL_BYTES = 4096
/** How long the rest of the output may take to arrive once the process is gone. */
export const DRAIN_MS = 1000

/** What is known when the process has ended. */
export interface ProcessEnd {
  code: number | null
  signal: NodeJS.Signals | null
  stderr: string
  /** Whether anything was ever written to stdout: without it, the kernel never came up. */
  spoke: boolean
}

/** What an end means. The signal, where it is another one than what ended the process. */
export type Explained = Pick<SandboxExit, 'reason' | 'detail'> & Partial<Pick<SandboxExit, 'signal'>>

export interface LocalSandboxParts {
  id: string
  provider: ProviderName
  stdin: Writable
  stdout: Readable
  /** Rung for an interrupt. See python/sandbridge_kernel/port_pipe.py. */
  bell?: Writable | undefined
  /** Finds the first process of the sandbox. */
  findPid: () => Promise<number | undefined>
}

export abstract class LocalSandbox implements Sandbox {
  readonly id: string
  readonly provider: ProviderName
  stdin: Writable
  stdout: Readable
  abstract readonly exited: Promise<SandboxExit>
  protected bell: Writable | undefined
  readonly #findPid: () => Promise<number | undefined>
  #pid: Promise<number | undefined> | undefined
  #disposing: Promise<void> | undefined

  constructor({ id, provider, stdin, stdout, bell, findPid }: LocalSandboxParts) {
    this.id = id
    this.provider = provider
    this.stdin = stdin
    this.stdout = stdout
    this.bell = bell
    this.#findPid = findPid
  }

  protected get isDisposing(): boolean {
    return this.#disposing !== undefined
  }

  interrupt(): void {
    sendInterrupt(this.stdin, this.bell)
  }

  async usage(): Promise<ProcessUsage | undefined> {
    this.#pid ??= this.#findPid().catch(() => undefined)
    const pid = await this.#pid
    return pid === undefined || this.isDisposing ? undefined : processTreeUsage(pid)
  }

  dispose(): Promise<void> {
    this.#disposing ??= this.#end()
    return this.#disposing
  }

  async #end(): Promise<void> {
    // Drained, since unread output would keep the process from ending.
    this.stdout.resume()
    this.stdin.destroy()
    this.bell?.destroy()
    await this.endProcesses()
    await this.exited
  }

  /** Ends the processes of the sandbox, whose stdin was closed. `exited` is waited for afterwards. */
  protected abstract endProcesses(): void | Promise<void>
}
