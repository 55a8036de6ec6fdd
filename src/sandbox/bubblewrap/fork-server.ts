// One process that forks sandboxes: python/sandbox_fork_server.py, what it is asked and what it says. It makes a number of them and no more, so
// that not many share what is random in it (addresses, hashes of texts). It ends with its last sandbox, and all of them end with it.
import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { messageOf } from '../../errors.ts'
import { createByteTail } from '../../process/byte-tail.ts'
import { withTimeout } from '../../process/wait.ts'
import { exitSignal } from '../../process/exit-signal.ts'
import { findForked } from './find-forked.ts'
import { type ForkedEnd, ForkedSandbox, type ForkedSandboxOptions } from './forked-sandbox.ts'

/** Partners of sandbox_fork_server.py. */
const FIRST_FD = 3
const FDS_EACH = 4

const STDERR_TAIL_BYTES = 4096
/** Importing the kernel, or making a sandbox, on a machine that is very busy. */
const ANSWER_MS = 20_000
/** How long it waits for its first sandbox, or for another one. */
const IDLE_MS = 10_000
const NO_ANSWER = `no answer within ${ANSWER_MS / 1000} s`

export interface ForkServerOptions {
  command: string
  args: readonly string[]
  /** Makes what is written to its stdin before anything else, while it starts. */
  preamble: () => Buffer
  /** How many sandboxes it can make. Each has descriptors of its own, which are open from the beginning. */
  slotCount: number
}

export interface ForkOptions extends Pick<ForkedSandboxOptions, 'id' | 'explain'> {
  /** Those of python/sandbox_fork_server.py. */
  words: string
  /** Called with the id of the first process on this machine, which waits until that is done. */
  enter?: ((pid: number) => Promise<void>) | undefined
}

/** What is heard of one sandbox. */
class Slot {
  /** Its first process, as the server sees it. Rejects when there will be none. */
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
  /** Rejects when it cannot fork. */
  readonly up: Promise<void>
  readonly slotCount: number
  readonly #slots = new Map<number, Slot>()
  readonly #stderr = createByteTail(STDERR_TAIL_BYTES)
  #used = 0
  #idle: NodeJS.Timeout | undefined
  /** Why it has ended, once it has. */
  #why: string | undefined

  constructor({ command, args, preamble, slotCount }: ForkServerOptions) {
    const channels = Array.from({ length: FDS_EACH * slotCount }, () => 'pipe' as const)
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe', ...channels], detached: true })
    const streams = child.stdio as unknown as Socket[] | undefined
    child.on('error', () => {})
    // So it is when no descriptor is left.
    if (streams === undefined) throw new Error('no more files can be opened')
    this.#child = child
    this.slotCount = slotCount
    // It keeps no program alive that has nothing else to do: only a sandbox does.
    child.unref()
    for (const stream of streams) stream.on('error', () => {}).unref()
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
      child.once('exit', () => setImmediate(() => lose(this.#stderr.text().trim() || 'it wrote nothing to stderr')))
    })
    this.up = withTimeout(isUp, ANSWER_MS, () => {
      child.kill('SIGKILL')
      throw new Error(NO_ANSWER)
    })
    this.up.then(
      () => {
        // Who waits for it already asks next.
        if (this.#used === 0) this.#endWhenDone()
      },
      () => {},
    )
  }

  /** How many more sandboxes it can make. */
  get left(): number {
    return this.#why === undefined ? this.slotCount - this.#used : 0
  }

  /** Make a sandbox. Call it only while some are left. @throws Error that says why it could not be made */
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

  /** Its end is told by `ended`. */
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

  /** While there is something to hear. */
  #listen(): void {
    const stdout = this.#child.stdout as Socket
    if (this.#slots.size > 0) stdout.ref()
    else stdout.unref()
  }

  /** With no sandbox, at once when it can make none, and otherwise after a while. */
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

  /** It has ended, and with it all of its sandboxes. */
  #lose(why: string): void {
    this.#why = why
    for (const slot of this.#slots.values()) {
      slot.onFailed(new Error(why))
      slot.onEnded({ code: null, signal: 'SIGKILL', lost: `The process that it was forked from has ended: ${why}` })
    }
    this.#slots.clear()
    for (const stream of this.#child.stdio.slice(FIRST_FD + FDS_EACH * this.#used)) stream!.destroy()
  }

  /** It does not answer. It is asked for no more, and lives on for the sandboxes that it has made. */
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
