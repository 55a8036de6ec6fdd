// A sandbox that was forked: its descriptors, and its end as the process that forked it tells.
import { finished } from 'node:stream/promises'
import type { Socket } from 'node:net'
import { createByteTail } from '../../process/byte-tail.ts'
import { processTreeUsage, type ProcessUsage } from '../../process/process-tree-usage.ts'
import { withTimeout } from '../../process/wait.ts'
import { sendInterrupt } from '../interrupt.ts'
import type { Sandbox, SandboxExit } from '../provider.ts'
import type { Explained, ProcessEnd } from '../stdio-process.ts'

const STDERR_TAIL_BYTES = 4096
/** How long the rest of the output may take to arrive once the process is gone. */
const DRAIN_MS = 1000

/** How its first process ended. */
export type ForkedEnd = Pick<ProcessEnd, 'code' | 'signal'> & {
  /** Set when it ended with the process that had forked it: why that has ended. */
  lost?: string
}

export interface ForkedSandboxOptions {
  id: string
  streams: readonly [stdin: Socket, stdout: Socket, stderr: Socket, bell: Socket]
  ended: Promise<ForkedEnd>
  explain: (end: ProcessEnd) => Explained | Promise<Explained>
  findPid: () => Promise<number | undefined>
  /** Asks for its end. `ended` tells of it. */
  kill: () => void
}

export class ForkedSandbox implements Sandbox {
  readonly id: string
  readonly provider = 'bubblewrap'
  readonly stdin: Socket
  readonly stdout: Socket
  readonly exited: Promise<SandboxExit>
  readonly #bell: Socket
  readonly #kill: () => void
  readonly #findPid: () => Promise<number | undefined>
  #pid: Promise<number | undefined> | undefined
  #disposing: Promise<void> | undefined

  constructor({ id, streams, ended, explain, findPid, kill }: ForkedSandboxOptions) {
    const [stdin, stdout, stderr, bell] = streams
    this.id = id
    this.stdin = stdin
    this.stdout = stdout
    this.#bell = bell
    this.#findPid = findPid
    this.#kill = kill
    for (const stream of streams) stream.ref()
    // Nothing is read from these: they notice that the other end is gone.
    stdin.resume()
    bell.resume()
    const tail = createByteTail(STDERR_TAIL_BYTES)
    stderr.on('data', (chunk: Buffer) => tail.push(chunk))
    this.exited = ended.then(async ({ code, signal, lost }) => {
      await withTimeout(Promise.allSettled([finished(stdout), finished(stderr)]), DRAIN_MS, () => {})
      for (const stream of [stdin, stderr, bell]) stream.destroy()
      const end: ProcessEnd = { code, signal, stderr: tail.text().trim(), spoke: stdout.bytesRead > 0 }
      const explained: Explained = this.#disposing
        ? { reason: 'disposed', detail: end.stderr }
        : lost === undefined
          ? await explain(end)
          : { reason: 'killed', detail: lost }
      return { code, signal, ...explained }
    })
  }

  interrupt(): void {
    sendInterrupt(this.stdin, this.#bell)
  }

  async usage(): Promise<ProcessUsage | undefined> {
    this.#pid ??= this.#findPid()
    const pid = await this.#pid
    return pid === undefined || this.#disposing ? undefined : processTreeUsage(pid)
  }

  dispose(): Promise<void> {
    this.#disposing ??= this.#end()
    return this.#disposing
  }

  async #end(): Promise<void> {
    // Drained, since unread output would keep the process from ending.
    this.stdout.resume()
    this.stdin.destroy()
    this.#bell.destroy()
    this.#kill()
    await this.exited
  }
}
