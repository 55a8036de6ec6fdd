// A sandbox whose processes run on this machine: interrupts, measures and ends it, however it was started.
import type { Readable, Writable } from 'node:stream'
import { processTreeUsage, type ProcessUsage } from '../../util/process/process-tree-usage.ts'
import type { ProviderName, Sandbox, SandboxExit } from '../provider.ts'
import { writeBatched } from '../../util/bytes/write-batched.ts'

export const STDERR_TAIL_BYTES = 4096
/** How long to wait for the rest of the output after the process has exited. */
export const DRAIN_MS = 1000

/** What is known about an ended process. */
export interface ProcessEnd {
  code: number | null
  signal: NodeJS.Signals | null
  stderr: string
  /** False if nothing was ever written to stdout: the kernel never started. */
  spoke: boolean
}

/** The meaning of an end. `signal` is set if it differs from the signal that ended the process. */
export type Explained = Pick<SandboxExit, 'reason' | 'detail'> & Partial<Pick<SandboxExit, 'signal'>>

interface LocalSandboxParts extends Pick<Sandbox, 'id' | 'provider' | 'stdin' | 'stdout'> {
  /** Rung for an interrupt. See packages/core/python/sandbridge_kernel/wire/port_pipe.py. */
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

  /** Ends the sandbox's processes. Its stdin is already closed; the caller then awaits `exited`. */
  protected abstract endProcesses(): void | Promise<void>
}

const INTERRUPT = Buffer.from([0x03])

/** No effect if the kernel is gone. */
export function sendInterrupt(stdin: Writable, bell?: Writable): void {
  if (!stdin.writable) return
  const ring = (): void => {
    if (bell?.writable) bell.write(INTERRUPT)
  }
  // Rings twice: before, so that a busy kernel reads what precedes the interrupt, and after the byte was written.
  ring()
  writeBatched(stdin, INTERRUPT, ring)
}
