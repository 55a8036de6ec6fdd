// Kernels that are started and waiting, so that a new session never waits for a sandbox. Each is handed out once and never comes back.
import { BridgeError, messageOf } from '../errors.ts'
import { type EventStream, NO_EVENTS } from '../events/event-stream.ts'
import { Kernel } from '../kernel/kernel.ts'
import type { Log } from '../log.ts'
import type { KeptSession, Provider, Sandbox, SandboxLimits } from '../sandbox/provider.ts'
import type { OnPreparing } from './cell-run.ts'
import { type PoolBounds, PoolSize } from './pool-size.ts'
import { type QueueOptions, StartQueue } from './start-queue.ts'
import { warmUp } from './warm-up.ts'

interface KernelPoolOptions {
  /** Chosen at the first need, because looking for engines takes time. */
  provider: (onProgress: OnPreparing) => Promise<Provider>
  limits: SandboxLimits
  /** How many kernels to keep waiting; with two bounds, as many as the sessions that come need. */
  size: number | PoolBounds
  log: Log
  events?: EventStream
}

/** Starting a sandbox takes the machine for a while, which the cell that the last one was taken for should have first. */
const REFILL_AFTER_MS = 100
/** A waiting kernel that was lost is replaced after this, and after twice as long each time that happens again before one is taken. */
const REFILL_AFTER_LOSS_MS = 1_000
const MAX_REFILL_AFTER_LOSS_MS = 5 * 60_000
/** How often a pool that has grown looks whether it is still needed. */
const SHRINK_MS = 15_000

export class KernelPool {
  readonly #options: KernelPoolOptions
  readonly #size: PoolSize
  /** Oldest first; each is ready or will be. */
  #waiting: Promise<Kernel>[] = []
  readonly #queue = new StartQueue()
  /** Those whose kernel is not ready yet. */
  readonly #starting = new Set<Sandbox>()
  #closed = false
  /** How often in a row a waiting kernel was lost, or its replacement did not start. */
  #lossCount = 0
  #refill: NodeJS.Timeout | undefined
  #shrinking: NodeJS.Timeout | undefined
  /** Who waits for a kernel and wants to hear why. */
  readonly #listeners = new Set<OnPreparing>()
  /** The latest progress of the preparation, for sessions that join later. */
  #latest: string | undefined

  /** One function for all kernels that are started at once, since they share the work and its messages. */
  readonly #tell: OnPreparing = (message) => {
    this.#latest = message
    for (const listener of this.#listeners) listener(message)
  }

  constructor(options: KernelPoolOptions) {
    this.#options = options
    const { size } = options
    this.#size = new PoolSize(typeof size === 'number' ? { min: size, max: size } : size)
  }

  /** Start kernels ahead of need. A failure is only logged: the session that takes a kernel gets it again, and reports it. */
  warm(): void {
    // Where sessions wait for a sandbox, theirs come first; each start that ends asks again.
    const target = this.#size.target(performance.now())
    while (!this.#closed && !this.#queue.isBusy && this.#waiting.length < target) {
      this.#waiting.push(this.#startWaiting())
    }
    this.#shrinkLater()
  }

  /** Ends those that nobody will need, the newest first. Nothing has run in them. */
  #shrinkLater(): void {
    if (this.#closed || this.#shrinking || this.#waiting.length <= this.#size.min) return
    this.#shrinking = setTimeout(() => {
      this.#shrinking = undefined
      const surplus = this.#waiting.splice(this.#size.target(performance.now()))
      for (const starting of surplus) void starting.then((kernel) => kernel.dispose()).catch(() => {})
      this.#shrinkLater()
    }, SHRINK_MS).unref()
  }

  /** Tell `listener` what has to be prepared before a kernel can start, until the function that this returns is called. */
  onPreparing(listener: OnPreparing): () => void {
    this.#listeners.add(listener)
    if (this.#latest !== undefined) listener(this.#latest)
    return () => this.#listeners.delete(listener)
  }

  /**
   * A kernel that no session has touched: a waiting one, one about to be ready, or else a new one.
   * @throws BridgeError SANDBOX_* when none can be started, CANCELLED, SHUTTING_DOWN
   */
  async take(options?: QueueOptions): Promise<Kernel> {
    if (this.#closed) throw shuttingDown()
    const askedAt = performance.now()
    const pooled = this.#waiting.shift()
    const kernel = await (pooled ?? this.#start(options))
    if (this.#closed) {
      await kernel.dispose()
      throw shuttingDown()
    }
    this.#lossCount = 0
    this.#size.taken(performance.now())
    const { id, provider } = kernel.sandbox
    const durationMs = performance.now() - askedAt
    if (!pooled) this.#size.started(durationMs)
    this.#options.events?.emit({ type: 'sandbox.taken', id, provider, wasPooled: pooled !== undefined, durationMs })
    setTimeout(() => this.warm(), REFILL_AFTER_MS).unref()
    return kernel
  }

  /** The kernel that an earlier bridge kept for this session. What speaks against it is a note for its user. */
  async resume(session: KeptSession): Promise<{ kernel?: Kernel; note?: string | undefined }> {
    const provider = await this.#prepared()
    const { sandbox, note } = (await provider.resume?.(session)) ?? {}
    if (!sandbox) return { note }
    try {
      const kernel = await Kernel.attach(sandbox, undefined, this.#options.log)
      this.#emitStarted(kernel, 0)
      return { kernel }
    } catch (error) {
      return { note: `The kept sandbox cannot be used: ${messageOf(error)}` }
    }
  }

  /** Whether an earlier bridge kept one for this session. */
  async keeps(session: KeptSession): Promise<boolean> {
    const provider = await this.#prepared()
    return (await provider.keeps?.(session)) ?? false
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#refill)
    clearTimeout(this.#shrinking)
    this.#queue.close()
    await Promise.all([...this.#starting].map((sandbox) => sandbox.dispose()))
    const waiting = await Promise.allSettled(this.#waiting)
    const started = waiting.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    await Promise.all(started.map((kernel) => kernel.dispose()))
  }

  #startWaiting(): Promise<Kernel> {
    const starting = this.#startWarm()
    const forget = () => {
      const wasWaiting = this.#waiting.includes(starting)
      this.#waiting = this.#waiting.filter((other) => other !== starting)
      return wasWaiting
    }
    starting.then(
      (kernel) =>
        void kernel.closed.then((exit) => {
          if (!forget() || this.#closed) return
          this.#options.log.warning('A pooled sandbox ended', { ...exit })
          this.#refillLater()
        }),
      (error: unknown) => {
        forget()
        this.#options.log.warning('A pooled kernel failed to start', { error })
        // A first kernel that does not start is left to the session that needs it; a replacement is tried again.
        if (this.#lossCount > 0) this.#refillLater()
      },
    )
    return starting
  }

  #refillLater(): void {
    if (this.#closed || this.#refill) return
    const delayMs = Math.min(REFILL_AFTER_LOSS_MS * 2 ** this.#lossCount, MAX_REFILL_AFTER_LOSS_MS)
    this.#lossCount += 1
    this.#refill = setTimeout(() => {
      this.#refill = undefined
      this.warm()
    }, delayMs).unref()
  }

  async #startWarm(): Promise<Kernel> {
    const wantedAt = performance.now()
    const kernel = await this.#start()
    await warmUp(kernel)
    this.#size.started(performance.now() - wantedAt)
    return kernel
  }

  async #start(options?: QueueOptions): Promise<Kernel> {
    const { limits, log } = this.#options
    const provider = await this.#prepared()
    if (provider.startsAtOnce !== undefined) this.#queue.allow(provider.startsAtOnce)
    return this.#queue.run(async () => {
      if (this.#closed) throw shuttingDown()
      const startedAt = performance.now()
      const sandbox = await provider.start(limits)
      this.#starting.add(sandbox)
      try {
        if (this.#closed) throw shuttingDown()
        const kernel = await Kernel.attach(sandbox, undefined, log)
        this.#emitStarted(kernel, performance.now() - startedAt)
        return kernel
      } catch (error) {
        await sandbox.dispose()
        throw error
      } finally {
        this.#starting.delete(sandbox)
      }
    }, options)
  }

  #emitStarted({ sandbox: { id, provider }, python, closed }: Kernel, durationMs: number): void {
    const { events = NO_EVENTS } = this.#options
    events.emit({ type: 'sandbox.started', id, provider, python, durationMs })
    void closed.then(({ reason }) => events.emit({ type: 'sandbox.ended', id, provider, reason }))
  }

  async #prepared(): Promise<Provider> {
    try {
      const provider = await this.#options.provider(this.#tell)
      await provider.prepare(this.#tell)
      return provider
    } finally {
      this.#latest = undefined
    }
  }
}

function shuttingDown(): BridgeError {
  return new BridgeError('SHUTTING_DOWN', 'The bridge is shutting down')
}
