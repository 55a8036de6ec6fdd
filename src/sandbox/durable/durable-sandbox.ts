// A sandbox that can outlive this bridge, over the connection that its first process has made. The container is neither a child of this process nor
// ended by its end: it ends when it is told to, when it is removed, or when no bridge came for too long.
import type { Socket } from 'node:net'
import { type Readable, Writable } from 'node:stream'
import { processTreeUsage, type ProcessUsage } from '../../process/process-tree-usage.ts'
import { withTimeout } from '../../process/wait.ts'
import { explainEnd } from '../native-kernel.ts'
import type { CellMark, Durable, KeptSession, LeftBehind, ProviderName, Sandbox, SandboxExit } from '../provider.ts'
import type { Entered } from './door.ts'
import { NumberedLines } from './numbered-lines.ts'

/** How long it may take to end by itself once it was told to. */
const QUIET_END_MS = 3_000
/** What waits to be written is counted as unread by whoever writes. */
const HIGH_WATER_BYTES = 1 << 16

interface DurableOptions {
  id: string
  provider: ProviderName
  entered: Entered
  left?: LeftBehind
  /** Of the first bridge: the key that the sandbox is to come back with. */
  key?: string
  preamble?: Buffer
  /** Write down whose it is. */
  keep: (session: KeptSession) => Promise<void>
  keepSeconds: number
  /** Somebody uses it. */
  touch: () => void
  /** Ends the container from outside. Resolves when nothing of it is left. */
  remove: () => Promise<void>
  findPid: () => Promise<number | undefined>
  /** This bridge is done with it. */
  onEnd: (isLeft: boolean) => Promise<void>
}

export class DurableSandbox implements Sandbox, Durable {
  readonly id: string
  readonly provider: ProviderName
  readonly stdin: Writable
  readonly stdout: Readable
  readonly exited: Promise<SandboxExit>
  readonly left: LeftBehind | undefined
  readonly #options: DurableOptions
  readonly #socket: Socket
  readonly #lines: NumberedLines
  #isKept: boolean
  #faulted = ''
  #isLeaving = false
  #insidePid: Promise<number | undefined> | undefined
  #disposing: Promise<void> | undefined

  constructor(options: DurableOptions) {
    const { id, provider, entered, left, key, preamble } = options
    const { socket, rest } = entered
    this.id = id
    this.provider = provider
    this.left = left
    this.#isKept = left !== undefined
    this.#options = options
    this.#socket = socket
    this.stdin = new Writable({
      highWaterMark: HIGH_WATER_BYTES,
      write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, () => done()),
    })
    this.stdin.on('error', () => {})
    this.#lines = new NumberedLines(socket, (reason) => {
      this.#faulted = `sent ${reason}`
      void this.dispose()
    })
    this.stdout = this.#lines.frames
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    this.exited = closed.then(async () => {
      this.stdin.destroy()
      await options.onEnd(this.#isLeaving)
      return this.#exit()
    })
    if (preamble) socket.write(preamble)
    if (key !== undefined) socket.write(`key ${key}\nresume\n`)
    if (rest.length > 0) this.#lines.push(rest)
    // Of nothing that is pending, nothing is sent again: the next cell can be sent at once.
    if (left && !left.isPending) this.resume()
  }

  get durable(): Durable {
    return this
  }

  async keep(session: KeptSession): Promise<void> {
    await this.#options.keep(session)
    this.#isKept = true
    this.#write(`keep ${this.#options.keepSeconds}\n`)
  }

  resume(): void {
    this.#write('resume\n')
  }

  beginCell({ number, deadline, digest }: CellMark): void {
    this.#options.touch()
    this.#write(`cell ${number} ${Math.round(deadline)} ${digest}\n`)
  }

  release(): void {
    this.#write(`release ${this.#lines.last}\n`)
  }

  async leave(): Promise<void> {
    if (!this.#isKept) return this.dispose()
    if (this.#disposing) return this.#disposing
    this.#isLeaving = true
    this.#options.touch()
    // What was written is sent first.
    this.#socket.end(() => this.#socket.destroy())
    await withTimeout(this.exited, QUIET_END_MS, () => this.#socket.destroy())
    await this.exited
  }

  interrupt(): void {
    this.#write('interrupt\n')
  }

  async usage(): Promise<ProcessUsage | undefined> {
    this.#insidePid ??= this.#options.findPid().catch(() => undefined)
    const pid = await this.#insidePid
    return pid === undefined || this.#disposing ? undefined : processTreeUsage(pid)
  }

  dispose(): Promise<void> {
    this.#disposing ??= this.#isLeaving ? this.leave() : this.#end()
    return this.#disposing
  }

  async #end(): Promise<void> {
    this.stdout.resume()
    this.#write('end\n')
    // One that is not kept also ends with its connection, and before it reads anything.
    if (!this.#isKept) this.#socket.destroySoon()
    await withTimeout(this.exited, QUIET_END_MS, () => {})
    // Its end is not yet that of its container.
    await this.#options.remove().catch(() => {})
    this.#socket.destroy()
    await this.exited
  }

  #write(words: string): void {
    if (this.#socket.writable) this.#socket.write(words)
  }

  #exit(): SandboxExit {
    const code = this.#lines.endCode ?? null
    const end = { code, signal: null }
    if (this.#isLeaving) return { ...end, reason: 'left', detail: '' }
    if (this.#disposing) return { ...end, reason: 'disposed', detail: this.#faulted }
    if (code === null) return { ...end, reason: 'killed', detail: 'its connection ended' }
    return { ...end, ...explainEnd({ ...end, stderr: '', spoke: true }) }
  }
}
