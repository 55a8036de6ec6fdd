// Controls one process that forks sandboxes (packages/core/python/sandbox_fork_server.py). It forks a limited number,
// so that few sandboxes share its random values (addresses, string hash seed). It exits after its last sandbox; if it
// exits early, all its sandboxes end.
import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { messageOf } from '@sandbridge/core/errors.ts'
import { createByteTail } from '@sandbridge/core/util/bytes'
import { withTimeout } from '@sandbridge/core/util/async'
import { endFirst, exitSignal, hasStreams, NO_MORE_FILES } from '@sandbridge/core/util/process'
import { type ForkedEnd, ForkedSandbox, type ForkedSandboxOptions } from './forked-sandbox.ts'
import { readFile } from 'node:fs/promises'

/** Must match sandbox_fork_server.py. */
const FIRST_FD = 3
const FDS_EACH = 4

const STDERR_TAIL_BYTES = 4096
/** Timeout for importing the kernel or making a sandbox, on a very busy machine. */
const ANSWER_MS = 20_000
/** How long the process waits for its first or next sandbox. */
const IDLE_MS = 10_000
const NO_ANSWER = `no answer within ${ANSWER_MS / 1000} s`

export interface ForkServerOptions {
  command: string
  args: readonly string[]
  /** Returns what is written to stdin first; called while the process starts. */
  preamble: () => Buffer
  /** Number of sandboxes it can make. Each has its own descriptors, open from the start. */
  slotCount: number
}

export interface ForkOptions extends Pick<ForkedSandboxOptions, 'id' | 'explain'> {
  /** Options for packages/core/python/sandbox_fork_server.py. */
  words: string
  /** Called with the first process's id on this machine. That process waits until this is done. */
  enter?: ((pid: number) => Promise<void>) | undefined
}

/** Messages about one sandbox. */
class Slot {
  /** Resolves with the first process's id in the server's namespace. Rejects if the sandbox cannot be made. */
  readonly made: Promise<number>
  readonly ended: Promise<ForkedEnd>
  onMade!: (pid: number) => void
  onFailed!: (error: Error) => void
  onEnded!: (end: ForkedEnd) => void

  constructor() {
    this.made = new Promise((resolve, reject) => {
      this.onMade = resolve
      this.onFailed = reject
    })
    this.ended = new Promise((resolve) => (this.onEnded = resolve))
  }
}

export class ForkServer {
  readonly #child: ChildProcess
  /** Resolves when the server is ready. Rejects if it cannot fork. */
  readonly up: Promise<void>
  readonly slotCount: number
  readonly #slots = new Map<number, Slot>()
  readonly #stderr = createByteTail(STDERR_TAIL_BYTES)
  #used = 0
  #idle: NodeJS.Timeout | undefined
  /** Why the server has ended. */
  #why: string | undefined

  constructor({ command, args, preamble, slotCount }: ForkServerOptions) {
    const channels = Array.from({ length: FDS_EACH * slotCount }, () => 'pipe' as const)
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe', ...channels], detached: true })
    if (!hasStreams(child)) throw new Error(NO_MORE_FILES)
    endFirst(child)
    this.#child = child
    this.slotCount = slotCount
    // Does not keep this program alive; only a sandbox does.
    child.unref()
    for (const stream of child.stdio as unknown as Socket[]) stream.on('error', () => {}).unref()
    try {
      child.stdin.write(preamble())
    } catch (error) {
      child.kill('SIGKILL')
      throw error
    }
    child.stderr.on('data', (chunk: Buffer) => this.#stderr.push(chunk))
    const isUp = new Promise<void>((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => (line === 'up' ? resolve() : this.#hear(line)))
      const lose = (why: string) => {
        this.#lose(why)
        reject(new Error(why))
      }
      child.once('error', (error) => lose(messageOf(error)))
      child.once('exit', () => setImmediate(() => lose(this.#stderr.text().trim() || 'no message on stderr')))
    })
    this.up = withTimeout(isUp, ANSWER_MS, () => {
      child.kill('SIGKILL')
      throw new Error(NO_ANSWER)
    })
    this.up.then(
      () => {
        // A caller that waits for `up` starts its sandbox next.
        if (this.#used === 0) this.#endWhenDone()
      },
      () => {},
    )
  }

  /** Number of sandboxes that it can still make. */
  get left(): number {
    return this.#why === undefined ? this.slotCount - this.#used : 0
  }

  /** Fork a sandbox. Call it only while `left` is positive. @throws Error that says why it failed */
  async start({ id, words, explain, enter }: ForkOptions): Promise<ForkedSandbox> {
    const slot = this.#used
    this.#used += 1
    const at = FIRST_FD + FDS_EACH * slot
    const streams = this.#child.stdio.slice(at, at + FDS_EACH) as [Socket, Socket, Socket, Socket]
    try {
      await this.up
      const { made, ended } = this.#ask(slot, `start ${slot} id=${id} ${words}${enter ? ' hold=1' : ''}`)
      const pid = await withTimeout(made, ANSWER_MS, () => this.#retire(slot))
      const findPid = () => findForked(this.#child.pid!, pid)
      if (enter) {
        const outerPid = await findPid()
        if (outerPid === undefined) throw new Error('its process was not found')
        await enter(outerPid)
        streams[0].write('\n')
      }
      return new ForkedSandbox({ id, streams, ended, explain, findPid, kill: () => this.#end(slot, ended, findPid) })
    } catch (error) {
      for (const stream of streams) stream.destroy()
      throw error
    }
  }

  /** `ended` resolves when the sandbox is gone. */
  #end(slot: number, ended: Promise<ForkedEnd>, findPid: () => Promise<number | undefined>): void {
    this.#child.stdin!.write(`kill ${slot}\n`)
    void withTimeout(ended, ANSWER_MS, async () => {
      const pid = await findPid()
      if (pid !== undefined) process.kill(pid, 'SIGKILL')
      this.#hear(`ended ${slot} -9`)
    }).catch(() => {})
  }

  #ask(number: number, line: string): Slot {
    if (this.#why !== undefined) throw new Error(this.#why)
    const slot = new Slot()
    this.#slots.set(number, slot)
    clearTimeout(this.#idle)
    this.#listen()
    this.#child.stdin!.write(`${line}\n`)
    return slot
  }

  #hear(line: string): void {
    const [what, number, ...rest] = line.split(' ')
    const text = rest.join(' ')
    const slot = this.#slots.get(Number(number))
    if (what === 'made') slot?.onMade(Number(text))
    if (what === 'failed') slot?.onFailed(new Error(text))
    if (what === 'ended') slot?.onEnded(endOf(Number(text)))
    if (what === 'failed' || what === 'ended') this.#slots.delete(Number(number))
    this.#listen()
    this.#endWhenDone()
  }

  /** Keeps this program alive while messages about a sandbox are due. */
  #listen(): void {
    const stdout = this.#child.stdout as Socket
    if (this.#slots.size > 0) stdout.ref()
    else stdout.unref()
  }

  /** Stops the server when it has no sandbox: at once if it can make no more, else after a delay. */
  #endWhenDone(): void {
    clearTimeout(this.#idle)
    if (this.#slots.size > 0) return
    const end = () => {
      this.#used = this.slotCount
      this.#child.stdin!.destroy()
    }
    if (this.left === 0) end()
    else this.#idle = setTimeout(end, IDLE_MS).unref()
  }

  /** The server has ended, and all its sandboxes with it. */
  #lose(why: string): void {
    this.#why = why
    for (const slot of this.#slots.values()) {
      slot.onFailed(new Error(why))
      slot.onEnded({ code: null, signal: 'SIGKILL', lost: `The process that it was forked from has ended: ${why}` })
    }
    this.#slots.clear()
    for (const stream of this.#child.stdio.slice(FIRST_FD + FDS_EACH * this.#used)) stream!.destroy()
  }

  /** Stops using a server that does not answer. It keeps running for the sandboxes that it has made. */
  #retire(slot: number): never {
    this.#used = this.slotCount
    this.#slots.delete(slot)
    if (this.#slots.size === 0) this.#child.kill('SIGKILL')
    throw new Error(NO_ANSWER)
  }
}

function endOf(code: number): ForkedEnd {
  return code < 0 ? { code: null, signal: exitSignal(128 - code) ?? null } : { code, signal: null }
}

// Finds a sandbox's process id on this machine. The fork server knows only the id in its own namespace.

/**
 * Finds the first process of a PID namespace.
 * @param root process id of bubblewrap, whose child forks sandboxes
 * @param innerPid id of the process in the namespace of that child
 */
async function findForked(root: number, innerPid: number): Promise<number | undefined> {
  for (const server of await childrenOf(root)) {
    for (const pid of await childrenOf(server)) {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
      // Ids of the process, from our namespace down to its own.
      const ids = /^NSpid:\t(.*)$/m.exec(status)?.[1]?.split('\t')
      if (ids?.at(-1) === '1' && ids.at(-2) === String(innerPid)) return pid
    }
  }
  return undefined
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}
