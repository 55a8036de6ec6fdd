// Keeps started kernels waiting for new sessions. Each is handed out once and never comes back.
import { BridgeError, messageOf, shuttingDown } from '../../errors.ts'
import { type EventStream, NO_EVENTS } from '../../observe/events/event-stream.ts'
import { Kernel } from '../kernel/kernel.ts'
import { withTimeout } from '../../util/async/wait.ts'
import type { Log } from '../../util/log.ts'
import { packageName } from '../../isolation/cell-packages-part.ts'
import type { KeptSession, MissingPackage, Provider, Sandbox, SandboxLimits } from '../../isolation/provider.ts'
import { type OnPreparing, CellRun } from './cell-run.ts'
import { type PoolBounds, PoolSize } from './pool-size.ts'
import { type QueueOptions, StartQueue } from './start-queue.ts'
import { renderResult, withParts } from '../render/render-result.ts'

interface KernelPoolOptions {
  /** Called at first use, because looking for engines takes time. */
  provider: (onProgress: OnPreparing) => Promise<Provider>
  /** See `ProviderChoice`. */
  passOver?: ((provider: Provider, error: unknown) => string | undefined) | undefined
  limits: SandboxLimits
  /** Number of kernels to keep waiting; with two bounds, adapts to how fast sessions take them. */
  size: number | PoolBounds
  /** Packages that waiting kernels import: requirements, and paths of wheels. */
  packages?: readonly string[]
  log: Log
  events?: EventStream
}

/** Delay before a taken kernel is replaced: a start slows the machine, and the taking cell should run first. */
const REFILL_AFTER_MS = 100
/** Delay before a lost waiting kernel is replaced. Doubles with each further loss until a kernel is taken. */
const REFILL_AFTER_LOSS_MS = 1_000
const MAX_REFILL_AFTER_LOSS_MS = 5 * 60_000
/** How long the first sandbox of a provider may take to start where another provider could be taken. */
const FIRST_START_MS = 25_000
/** How often a grown pool checks whether it can shrink. */
const SHRINK_MS = 15_000

export class KernelPool {
  readonly #options: KernelPoolOptions
  readonly #size: PoolSize
  /** Oldest first; each is ready or starting. */
  #waiting: Promise<Kernel>[] = []
  readonly #queue = new StartQueue()
  /** Configured packages that sandboxes do not have. Known once a kernel was taken. */
  missingPackages: readonly MissingPackage[] = []
  /** Why providers were passed over, until a session has taken a kernel. */
  readonly #passedOver = new Set<string>()
  /** The provider has started a sandbox: a later failure does not mean that it cannot. */
  readonly #proven = new WeakSet<Provider>()
  /** Sandboxes whose kernel is not ready yet. */
  readonly #starting = new Set<Sandbox>()
  #closed = false
  /** Consecutive losses: a waiting kernel ended, or its replacement failed to start. */
  #lossCount = 0
  #refill: NodeJS.Timeout | undefined
  #shrinking: NodeJS.Timeout | undefined
  /** Empty after their import ended a kernel: a package must not keep sessions from getting one. */
  #packages: readonly string[]
  /** Progress listeners of sessions that wait for a kernel. */
  readonly #listeners = new Set<OnPreparing>()
  /** The latest progress message, for sessions that join later. */
  #latest: string | undefined

  /** One function for all kernels that start together: they share the preparation and its messages. */
  readonly #tell: OnPreparing = (message) => {
    this.#latest = message
    for (const listener of this.#listeners) listener(message)
  }

  constructor(options: KernelPoolOptions) {
    this.#options = options
    const { size, packages = [] } = options
    this.#packages = packages.map((word) => packageName(word))
    this.#size = new PoolSize(typeof size === 'number' ? { min: size, max: size } : size)
  }

  /** Starts kernels ahead of need. Only logs a failure: the session that takes the kernel reports it. */
  warm(): void {
    // Sessions that wait for a sandbox come first; each completed start calls this again.
    const target = this.#size.target(performance.now())
    while (!this.#closed && !this.#queue.isBusy && this.#waiting.length < target) {
      this.#waiting.push(this.#startWaiting())
    }
    this.#shrinkLater()
  }

  /** Disposes of kernels beyond the target size, newest first. They have run no cells. */
  #shrinkLater(): void {
    if (this.#closed || this.#shrinking || this.#waiting.length <= this.#size.min) return
    this.#shrinking = setTimeout(() => {
      this.#shrinking = undefined
      const surplus = this.#waiting.splice(this.#size.target(performance.now()))
      for (const starting of surplus) void starting.then((kernel) => kernel.dispose()).catch(() => {})
      this.#shrinkLater()
    }, SHRINK_MS).unref()
  }

  /** Call `listener` with the preparation needed before a kernel can start, until the returned function is called. */
  onPreparing(listener: OnPreparing): () => void {
    this.#listeners.add(listener)
    if (this.#latest !== undefined) listener(this.#latest)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Take a kernel that no session has used: a waiting one, one that is starting, or else a new one.
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

  /** Tells once which providers could start no sandbox. */
  takeNews(kernel: Kernel): string | undefined {
    const reasons = [...this.#passedOver]
    this.#passedOver.clear()
    if (reasons.length === 0) return undefined
    const { provider } = kernel.sandbox
    const name = provider === 'pyodide' ? 'the embedded sandbox' : provider
    return `${reasons.join(' ')} Cells run in ${name} instead. Tell the user: \`sandbridge doctor\` says what to do.`
  }

  /** Resume the kernel that an earlier bridge kept for this session. If that fails, `note` tells the user why. */
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

  /** Tells whether an earlier bridge kept a sandbox for this session. */
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
        if (this.#closed) return
        this.#options.log.warning('A pooled kernel failed to start', { error })
        // Only replacements are retried. A first kernel that fails to start is left to the session that needs it.
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
    const packages = this.#packages
    try {
      await warmUp(kernel, { packages })
    } catch (error) {
      if (packages.length === 0 || this.#closed) throw error
      this.#options.log.warning('Packages are not imported ahead: a sandbox ended', { error })
      this.#packages = []
      return this.#startWarm()
    }
    this.#size.started(performance.now() - wantedAt)
    return kernel
  }

  async #start(options?: QueueOptions): Promise<Kernel> {
    const provider = await this.#prepared()
    if (provider.startsAtOnce !== undefined) this.#queue.allow(provider.startsAtOnce)
    try {
      return await this.#queue.run(() => this.#startIn(provider), options)
    } catch (error) {
      const reason = this.#whyPassedOver(provider, error)
      if (reason === undefined) throw error
      this.#passedOver.add(reason)
      return this.#start(options)
    }
  }

  async #startIn(provider: Provider): Promise<Kernel> {
    const { limits, log, passOver } = this.#options
    if (this.#closed) throw shuttingDown()
    const startedAt = performance.now()
    const sandbox = await provider.start(limits)
    this.#starting.add(sandbox)
    try {
      if (this.#closed) throw shuttingDown()
      const isTrial = passOver !== undefined && !this.#proven.has(provider)
      const attached = Kernel.attach(sandbox, undefined, log)
      const kernel = await (isTrial ? withTimeout(attached, FIRST_START_MS, startsLate) : attached)
      this.#proven.add(provider)
      this.#emitStarted(kernel, performance.now() - startedAt)
      return kernel
    } catch (error) {
      // An engine that does not answer does not answer this either.
      const disposed = sandbox.dispose()
      if (!isTimeout(error)) await disposed
      throw error
    } finally {
      this.#starting.delete(sandbox)
    }
  }

  /** Undefined when the provider works, nothing else can be taken, or nobody waits any more. */
  #whyPassedOver(provider: Provider, error: unknown): string | undefined {
    const { passOver } = this.#options
    if (!passOver || this.#closed || this.#proven.has(provider) || !isStartFailure(error)) return undefined
    return passOver(provider, error)
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
      this.missingPackages = provider.missingPackages ?? []
      return provider
    } finally {
      this.#latest = undefined
    }
  }
}

function startsLate(): never {
  throw new BridgeError('SANDBOX_START_TIMEOUT', `The sandbox did not start within ${FIRST_START_MS / 1000} s`)
}

const isTimeout = (error: unknown): boolean => BridgeError.isInstance(error) && error.code === 'SANDBOX_START_TIMEOUT'

/** False for what would fail in every sandbox. */
function isStartFailure(error: unknown): boolean {
  if (!BridgeError.isInstance(error)) return true
  return !['CONFIG_INVALID', 'CANCELLED', 'SHUTTING_DOWN', 'SANDBOX_BUSY'].includes(error.code)
}

const CELLS = ['0', 'print(0)', "await __import__('asyncio').sleep(0)", '0/0']
const TIMEOUT_MS = 30_000

/** @param packages names of packages to import as well @throws BridgeError KERNEL_DIED, also on timeout */
export async function warmUp(
  kernel: Kernel,
  { packages = [], timeoutMs = TIMEOUT_MS }: { packages?: readonly string[]; timeoutMs?: number } = {},
): Promise<void> {
  const imports = `__import__('sandbridge_kernel.run.ahead').run.ahead.import_ahead(${JSON.stringify(packages)})`
  for (const code of packages.length > 0 ? [...CELLS, imports] : CELLS) {
    const request = { code, timeoutMs, servers: [], onCall: () => Promise.resolve(null) }
    const result = await new CellRun(kernel, request, { cell: 0 }).result()
    renderResult(withParts(result), { mode: 'compact', outputTokens: 1_000 })
    if (result.status !== 'ok' && result.status !== 'error') {
      await kernel.dispose()
      throw new BridgeError('KERNEL_DIED', `The sandbox could not run its first cell: ${result.notes.join(' ')}`)
    }
  }
}
