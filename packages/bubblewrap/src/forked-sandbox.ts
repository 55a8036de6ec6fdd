// A forked sandbox: its descriptors, and its end as reported by the fork server.
import { finished } from 'node:stream/promises'
import type { Socket } from 'node:net'
import { createByteTail } from '@sandbridge/core/util/bytes'
import { withTimeout } from '@sandbridge/core/util/async'
import { DRAIN_MS, LocalSandbox, STDERR_TAIL_BYTES } from '@sandbridge/core/isolation'
import type { Explained, ProcessEnd, SandboxExit } from '@sandbridge/core/isolation'

/** Exit of its first process. */
export type ForkedEnd = Pick<ProcessEnd, 'code' | 'signal'> & {
  /** Set if the fork server ended: the reason for that. */
  lost?: string
}

export interface ForkedSandboxOptions {
  id: string
  streams: readonly [stdin: Socket, stdout: Socket, stderr: Socket, bell: Socket]
  ended: Promise<ForkedEnd>
  explain: (end: ProcessEnd) => Explained | Promise<Explained>
  findPid: () => Promise<number | undefined>
  /** Requests its end; `ended` resolves when it is gone. */
  kill: () => void
}

export class ForkedSandbox extends LocalSandbox {
  readonly exited: Promise<SandboxExit>
  readonly #kill: () => void

  constructor({ id, streams, ended, explain, findPid, kill }: ForkedSandboxOptions) {
    const [stdin, stdout, stderr, bell] = streams
    super({ id, provider: 'bubblewrap', stdin, stdout, bell, findPid })
    this.#kill = kill
    for (const stream of streams) stream.ref()
    // Nothing is read from these, but resuming detects that the other end has closed.
    stdin.resume()
    bell.resume()
    const tail = createByteTail(STDERR_TAIL_BYTES)
    stderr.on('data', (chunk: Buffer) => tail.push(chunk))
    this.exited = ended.then(async ({ code, signal, lost }) => {
      await withTimeout(Promise.allSettled([finished(stdout), finished(stderr)]), DRAIN_MS, () => {})
      for (const stream of [stdin, stderr, bell]) stream.destroy()
      const end: ProcessEnd = { code, signal, stderr: tail.text().trim(), spoke: stdout.bytesRead > 0 }
      const explained: Explained = this.isDisposing
        ? { reason: 'disposed', detail: end.stderr }
        : lost === undefined
          ? await explain(end)
          : { reason: 'killed', detail: lost }
      return { code, signal, ...explained }
    })
  }

  protected endProcesses(): void {
    this.#kill()
  }
}
