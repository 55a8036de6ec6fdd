// A sandbox in a pod: created, awaited, attached to, and deleted. Its streams exist from the start and are connected
// when the pod runs, so that its owner can end it at any time.
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '@sandbridge/core/errors.ts'
import { withTimeout } from '@sandbridge/core/util/async'
import { type Sandbox, type SandboxExit, sendInterrupt } from '@sandbridge/core/isolation'
import { ApiUnreachable } from './api/api-errors.ts'
import { AttachChannel } from './api/attach-channel.ts'
import type { Cluster } from './cluster.ts'
import { FollowedPod } from './pod/followed-pod.ts'
import { explainPodEnd } from './pod/pod-end.ts'
import { NotStarted, untilRunning } from './pod/pod-start.ts'

/** A node reports a container's exit reason with a delay: after seconds, or later where it starts many pods at once. */
const CAUSE_MS = 30_000
/** The node may be lost. */
const CAUSE_OF_BROKEN_MS = 5_000
const CAUSE_AGAIN_MS = 1_000
/** Time to read the rest of an ended container's output. */
const READ_ON_MS = 5_000
const DRAIN_MS = 1_000
const GONE_MS = 8_000
const GONE_AGAIN_MS = 500

export interface PodSandboxOptions {
  cluster: Cluster
  name: string
  image: string
  /** Written to stdin first. */
  preamble: Buffer
  startTimeoutMs: number
  /** A factor of the limits above, and of pings of the channel; replaced in tests. */
  pace?: number | undefined
  /** The program, if it is not python3. */
  program?: string | undefined
  /** Its Secret is created after it; until then, its container cannot start. */
  hasSecret?: boolean
  onStderr?: ((chunk: Buffer) => void) | undefined
}

export class PodSandbox implements Sandbox {
  readonly id: string
  readonly provider = 'kubernetes'
  readonly stdin: Writable
  readonly stdout: Readable
  readonly exited: Promise<SandboxExit>
  readonly startTimeoutMs: number
  /** Resolves once: true when the channel is connected, false if the pod ends first. */
  readonly attached: Promise<boolean>
  readonly #options: PodSandboxOptions
  readonly #pace: number
  readonly #channel: AttachChannel
  readonly #pod: FollowedPod
  #disposing: Promise<void> | undefined

  private constructor(options: PodSandboxOptions) {
    this.#options = options
    this.#pace = options.pace ?? 1
    this.id = options.name
    // Includes the wait for the pod, and for its kernel.
    this.startTimeoutMs = options.startTimeoutMs + 30_000
    this.#channel = new AttachChannel(this.#pace, options.onStderr)
    this.stdin = this.#channel.stdin
    this.stdout = this.#channel.stdout
    if (options.preamble.byteLength > 0) this.stdin.write(options.preamble)
    this.#pod = new FollowedPod(options.cluster, this.id)
    this.exited = new Promise((resolve) => (this.#resolveExit = resolve))
    this.attached = new Promise((resolve) => (this.#resolveAttached = resolve))
  }

  #resolveExit!: (exit: SandboxExit) => void
  #resolveAttached!: (isAttached: boolean) => void

  /** @throws ApiError, ApiUnreachable, BridgeError if the cluster does not accept the pod */
  static async create({ manifest, ...options }: PodSandboxOptions & { manifest: object }): Promise<PodSandbox> {
    const { cluster, name } = options
    const sandbox = new PodSandbox(options)
    try {
      await cluster.create('pods', manifest)
      sandbox.#pod.created()
    } catch (error) {
      sandbox.#pod.stop()
      // It may have been created anyway.
      if (error instanceof ApiUnreachable) void cluster.deletePod(name, 0).catch(() => {})
      throw error
    }
    void sandbox.#live().then((exit) => sandbox.#finish(exit))
    return sandbox
  }

  interrupt(): void {
    sendInterrupt(this.stdin)
  }

  dispose(): Promise<void> {
    this.#disposing ??= this.#end()
    return this.#disposing
  }

  async #end(): Promise<void> {
    // The output is no longer read.
    this.stdout.resume()
    this.#channel.close()
    this.#pod.wake()
    await this.exited
    await this.#removed
  }

  /** Resolves when the pod is gone, or the cluster could not be asked. */
  #removed: Promise<void> | undefined

  async #live(): Promise<SandboxExit> {
    try {
      const { cluster, image, program, hasSecret, startTimeoutMs: timeoutMs } = this.#options
      const isUnwanted = () => this.#disposing !== undefined
      await untilRunning(this.#pod, { image, program, hasSecret, timeoutMs, isUnwanted, pace: this.#pace })
      await cluster.attach(this.id, this.#channel, { isUnwanted })
      this.#resolveAttached(true)
    } catch (error) {
      const exit: SandboxExit = { reason: 'failed-to-start', code: null, signal: null, detail: messageOf(error) }
      if (this.#disposing) return { ...exit, reason: 'disposed' }
      if (error instanceof NotStarted) return { ...exit, reason: error.reason }
      if (error instanceof ApiUnreachable) return { ...exit, reason: 'engine-gone' }
      return exit
    }
    const lost = this.#untilLost()
    const end = await Promise.race([this.#channel.ended, lost])
    await this.#drained()
    const stderr = this.#channel.stderr
    if (this.#disposing) return { reason: 'disposed', code: null, signal: null, detail: stderr }
    const explained = await this.#waitForCause(stderr, end.how === 'broken' ? CAUSE_OF_BROKEN_MS : CAUSE_MS)
    if (this.#disposing) return { reason: 'disposed', code: null, signal: null, detail: stderr }
    // A pod that loses its connection ends itself with code 0, so that exit is not the reason.
    if (end.how === 'broken' && (!explained || explained.code === 0))
      return { reason: 'engine-gone', code: null, signal: null, detail: end.detail }
    if (!explained) return { reason: 'killed', code: null, signal: null, detail: stderr || end.detail }
    return { signal: null, ...explained }
  }

  async #finish(exit: SandboxExit): Promise<void> {
    this.#channel.close()
    this.#removed = this.#remove()
    this.#resolveExit(exit)
    this.#resolveAttached(false)
    await this.#removed
    this.#pod.stop()
  }

  /** Resolves when the cluster reports the pod's end but the channel stays open: its node may be gone. */
  async #untilLost(): Promise<{ how: 'broken'; detail: string }> {
    const isOver = ({ state } = this.#pod) =>
      state === 'gone' || (state && (state.terminated || state.isDeleting || state.phase === 'Failed'))
    while (!isOver()) await this.#pod.changed()
    do await sleep(READ_ON_MS * this.#pace, undefined, { ref: false })
    while (this.#channel.isStalled)
    return { how: 'broken', detail: 'The cluster ended the pod and its channel did not close' }
  }

  /** Waits briefly until the reader has read everything. */
  async #drained(): Promise<void> {
    const { stdout } = this
    if (stdout.readableEnded || stdout.destroyed) return
    await withTimeout(new Promise<void>((resolve) => stdout.once('end', resolve)), DRAIN_MS * this.#pace, () => {})
  }

  async #waitForCause(stderr: string, patienceMs: number) {
    const { image, program } = this.#options
    const { spoke } = this.#channel
    for (const startedAt = performance.now(); ;) {
      const pod = this.#pod.state === 'gone' ? undefined : this.#pod.state
      const explained = explainPodEnd({ pod, stderr, spoke, image, program })
      if (explained || !pod || this.#disposing || performance.now() - startedAt > patienceMs * this.#pace)
        return explained
      await this.#pod.changedOrAsked(CAUSE_AGAIN_MS * this.#pace)
    }
  }

  /** True once its processes have ended; the node may take ten more seconds to release the pod. */
  #hasEnded(): boolean {
    const { state } = this.#pod
    return state === 'gone' || state?.terminated !== undefined
  }

  async #remove(): Promise<void> {
    const { cluster } = this.#options
    try {
      await cluster.deletePod(this.id, 1)
      const startedAt = performance.now()
      while (!this.#hasEnded() && performance.now() - startedAt < GONE_MS * this.#pace)
        await this.#pod.changedOrAsked(GONE_AGAIN_MS * this.#pace)
      // An unreachable node never confirms it.
      if (!this.#hasEnded()) await cluster.deletePod(this.id, 0)
    } catch {
      // Without a connection, the pod ends itself, and the next bridge removes its object.
    }
  }
}
