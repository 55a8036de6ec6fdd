// A pod that can outlive this bridge, over a link to its first process. It does not end with this bridge: it ends on
// command, when it is removed, or when no bridge comes for too long.
import { type Readable, Writable } from 'node:stream'
import { withTimeout } from '@sandbridge/core/util/async'
import { explainEnd } from '@sandbridge/native/native-kernel.ts'
import type { CellMark, Durable, KeptPlace, KeptSession, LeftBehind, Sandbox } from '@sandbridge/core/isolation'
import type { SandboxExit } from '@sandbridge/core/isolation'
import type { LinkEnd, KeeperLink } from './keeper-link.ts'

/** How long it may take to end after the command. */
const QUIET_END_MS = 3_000
/** Buffer size of stdin. Bytes that wait in it count as unread (see ReplyRoom). */
const HIGH_WATER_BYTES = 1 << 16

interface DurableOptions {
  id: string
  link: KeeperLink
  left?: LeftBehind | undefined
  /** Where other bridges find it. */
  place: KeptPlace
  /** Saves the owner of the sandbox. */
  keep: (session: KeptSession) => Promise<void>
  keepSeconds: number
  /** Ends it from outside. Resolves when it is gone. */
  remove: () => Promise<void>
  /** Finds out why it ended, if possible. */
  explain: (code: number | null) => Promise<SandboxExit | undefined>
  /** Called when this bridge no longer has it. */
  onEnd: (isLeft: boolean) => Promise<void>
}

export class DurableSandbox implements Sandbox, Durable {
  readonly id: string
  readonly provider = 'kubernetes'
  readonly stdin: Writable
  readonly stdout: Readable
  readonly exited: Promise<SandboxExit>
  readonly left: LeftBehind | undefined
  readonly place: KeptPlace
  readonly #options: DurableOptions
  readonly #link: KeeperLink
  #isKept: boolean
  #isLeaving = false
  #interruptedAt = -Infinity
  #disposing: Promise<void> | undefined

  constructor(options: DurableOptions) {
    const { id, link, left, place } = options
    this.id = id
    this.left = left
    this.place = place
    this.#isKept = left !== undefined
    this.#options = options
    this.#link = link
    this.stdin = new Writable({
      highWaterMark: HIGH_WATER_BYTES,
      write: (chunk: Buffer, _encoding, done) => link.sendLines(chunk, done),
    })
    this.stdin.on('error', () => {})
    this.stdout = link.frames
    this.exited = link.ended.then(async (end) => {
      this.stdin.destroy()
      if (end.how === 'faulty') void this.dispose()
      const exit = await this.#exit(end)
      await options.onEnd(exit.reason === 'left')
      return exit
    })
    // If no cell is pending, nothing is sent again, so the next cell can be sent at once.
    if (!left?.isPending) this.resume()
  }

  get durable(): Durable {
    return this
  }

  async keep(session: KeptSession): Promise<void> {
    await this.#options.keep(session)
    this.#isKept = true
    this.#link.send(`keep ${this.#options.keepSeconds}`)
  }

  resume(): void {
    this.#link.send('resume')
  }

  beginCell({ number, deadline, digest }: CellMark): void {
    this.#link.send(`cell ${number} ${Math.round(deadline)} ${digest}`)
  }

  release(): void {
    this.#link.send(`release ${this.#link.lastFrame}`)
  }

  async leave(): Promise<void> {
    if (!this.#isKept) return this.dispose()
    if (this.#disposing) return this.#disposing
    this.#isLeaving = true
    this.#link.send('leave')
    // The sandbox has received everything when it confirms this.
    await withTimeout(this.#link.flushed(), QUIET_END_MS, () => {})
    this.#link.close()
    await this.exited
  }

  interrupt(): void {
    this.#interruptedAt = performance.now()
    // The first process acknowledges this even if the cell is busy.
    this.#link.send('interrupt')
  }

  get isUnheard(): boolean {
    return this.#link.isSilentSince(this.#interruptedAt)
  }

  dispose(): Promise<void> {
    this.#disposing ??= this.#isLeaving ? this.leave() : this.#end()
    return this.#disposing
  }

  async #end(): Promise<void> {
    this.stdout.resume()
    this.#link.send('end')
    await withTimeout(this.#link.ended, QUIET_END_MS, () => {})
    // The end of the first process is not yet that of the container.
    await this.#options.remove().catch(() => {})
    this.#link.close()
    await this.exited
  }

  async #exit({ how, detail }: LinkEnd): Promise<SandboxExit> {
    const code = this.#link.endCode ?? null
    const end = { code, signal: null }
    if (this.#isLeaving) return { ...end, reason: 'left', detail: '' }
    if (this.#disposing) return { ...end, reason: 'disposed', detail: how === 'faulty' ? detail : '' }
    if (how === 'taken') return { ...end, reason: 'left', detail: TAKEN }
    if (how === 'lost' && this.#isKept) return { ...end, reason: 'left', detail: `${LOST}: ${detail}` }
    if (how === 'lost') return { ...end, reason: 'engine-gone', detail }
    const explained = await this.#options.explain(code)
    if (explained) return explained
    if (code === null) return { ...end, reason: 'killed', detail: 'its connection ended' }
    return { ...end, ...explainEnd({ ...end, stderr: '', spoke: true }) }
  }
}

const TAKEN = 'Another bridge has taken over this sandbox'
const LOST = 'The connection to the sandbox is lost'
