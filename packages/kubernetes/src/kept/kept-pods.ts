// Pods that outlive their bridge: bridges attach to them one after the other. A pod's annotations (pod-claim.ts) say
// which bridge has it, and so does its first process, which follows the bridge with the highest generation and never
// leaves one that runs a cell.
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import { DurableSandbox } from './durable-sandbox.ts'
import { askKeeper, type Connection, NotAdmitted, KeeperLink, KeeperSilent, SandboxGone } from './keeper-link.ts'
import type { Hello } from './hello.ts'
import type { KeptPlace, KeptSession, LeftBehind, Resumed, Sandbox, SandboxExit } from '@sandbridge/core/isolation'
import { ApiError, ApiUnreachable } from '../api/api-errors.ts'
import { attachToKeeper } from './attach-to-keeper.ts'
import type { Cluster } from '../cluster.ts'
import { FollowedPod } from '../pod/followed-pod.ts'
import { type ClaimedPod, claimPatch, isAlive, keepPatch, ownerSelector, renewPatch } from './pod-claim.ts'
import { endPod } from './kept-pod-list.ts'
import { explainPodEnd } from '../pod/pod-end.ts'
import { NotStarted, untilRunning } from '../pod/pod-start.ts'

export interface NewPod {
  name: string
  image: string
  manifest: object
  preamble: Buffer
  startTimeoutMs: number
}

interface KeptPodsOptions {
  /** How long a pod waits for a bridge. */
  keepSeconds: number
  image: string
}

/** Timeouts for the hello of a new kernel, and of a running one. */
const FIRST_HELLO_MS = 60_000
const HELLO_MS = 10_000
/** How long to try to attach to a running pod. */
const RETURN_MS = 3_000
/** How long to wait for a cell that another bridge runs. */
const BUSY_MS = 30_000
const BUSY_AGAIN_MS = 200
/** A node reports a container's exit reason with a delay. */
const CAUSE_MS = 5_000
const ASK_AGAIN_MS = 250
/** Margin before other bridges clean up: clocks differ, and a restarting bridge needs time. */
const CLEANED_AFTER_MS = 10 * 60_000

export class KeptPods {
  readonly #cluster: Cluster
  readonly #options: KeptPodsOptions

  constructor(cluster: Cluster, options: KeptPodsOptions) {
    this.#cluster = cluster
    this.#options = options
  }

  /** This bridge's name in annotations. */
  get holder(): string {
    return `${hostname()} process ${process.pid} ${this.#cluster.bridge}`
  }

  /** @throws ApiError, ApiUnreachable, BridgeError if the pod does not start */
  async start({ name, image, manifest, preamble, startTimeoutMs }: NewPod): Promise<Sandbox> {
    const pod = new FollowedPod(this.#cluster, name)
    try {
      await this.#cluster.create('pods', manifest)
      pod.created()
      await untilRunning(pod, { image, timeoutMs: startTimeoutMs, isUnwanted: () => false })
      const uid = pod.state === 'gone' ? '' : (pod.state?.uid ?? '')
      const place = { name, uid }
      const connection = await attachToKeeper(this.#cluster, name)
      const { link } = await KeeperLink.open({
        connection,
        generation: 1,
        preamble,
        helloMs: FIRST_HELLO_MS,
        reconnect: () => this.#reattach(place),
      })
      return this.#sandbox(place, 1, link)
    } catch (error) {
      void this.#cluster.deletePod(name, 0).catch(() => {})
      if (error instanceof NotStarted) throw notStarted(error)
      throw error instanceof ApiError || BridgeError.isInstance(error) ? error : await this.#whyNotReady(name, error)
    } finally {
      pod.stop()
    }
  }

  /** Tells whether a pod of this session runs. @throws ApiError, ApiUnreachable */
  async keeps(session: KeptSession): Promise<boolean> {
    return (await this.#find(session)).length > 0
  }

  /**
   * Resume a pod that an earlier bridge kept for this session, or that another bridge has but does not use now.
   * @throws BridgeError SANDBOX_BUSY while another bridge runs a cell in it
   */
  async resume(session: KeptSession): Promise<Resumed> {
    const notes: string[] = []
    for (const pod of await this.#find(session)) {
      const sandbox = await this.#enter(pod, session)
      if (typeof sandbox !== 'string') return { sandbox }
      notes.push(sandbox)
    }
    if (notes.length === 0 && session.place) notes.push('The kept sandbox has ended, and its variables are gone.')
    return { ...(notes.length > 0 && { note: notes.join(' ') }) }
  }

  /** Returns the running ones, newest first. */
  async #find({ owner, place }: KeptSession): Promise<ClaimedPod[]> {
    const all = place
      ? [await this.#cluster.getClaim(place.name)]
      : await this.#cluster.listClaims(ownerSelector(owner))
    return all
      .flatMap((pod) => pod ?? [])
      .filter((pod) => pod.owner === owner && isAlive(pod) && (!place || pod.state.uid === place.uid))
      .toSorted((a, b) => b.state.createdAt - a.state.createdAt)
  }

  /** @returns a string with the reason, for a person, if it cannot be resumed */
  async #enter(found: ClaimedPod, { place: told }: KeptSession): Promise<DurableSandbox | string> {
    const { name, uid } = found.state
    const place = { name, uid }
    for (const startedAt = performance.now(); ;) {
      const pod = await this.#cluster.getClaim(name)
      if (!pod || !isAlive(pod) || pod.state.uid !== uid)
        return `The kept sandbox ${name} has ended, and its variables are gone.`
      const connection = await attachToKeeper(this.#cluster, name, { forMs: RETURN_MS }).catch((error: unknown) => {
        // The API server has just answered, so the node is the problem.
        const isNode = error instanceof ApiUnreachable || (error instanceof ApiError && error.status >= 500)
        throw isNode ? notReached(name, error) : error
      })
      try {
        const hello = await askKeeper(connection, HELLO_MS)
        // A handle grants the session even beside another bridge; without one, only an unconnected pod.
        if (hello.isThere && !told) {
          connection.close()
          return `Another bridge (${pod.holder}) has the kept sandbox ${name}, so its variables are not here.`
        }
        const sandbox = hello.isBusy ? undefined : await this.#take(pod, place, connection)
        if (sandbox) return sandbox
      } catch (error) {
        if (!(error instanceof NotAdmitted)) {
          connection.close()
          throw error instanceof KeeperSilent ? notReached(name, error) : error
        }
      }
      connection.close()
      if (performance.now() - startedAt > BUSY_MS) throw isBusy()
      await sleep(BUSY_AGAIN_MS * (0.75 + Math.random() / 2))
    }
  }

  /** @returns undefined if another bridge was faster @throws NotAdmitted if a cell has begun meanwhile */
  async #take(
    { generation: from }: ClaimedPod,
    place: KeptPlace,
    connection: Connection,
  ): Promise<DurableSandbox | undefined> {
    const generation = from + 1
    const isOurs = await this.#cluster.patchPod(place.name, claimPatch(from, this.holder, this.#keptUntil()))
    if (!isOurs) {
      // The patch may have succeeded although its response was lost.
      const now = await this.#cluster.getClaim(place.name)
      if (now?.generation !== generation || now.holder !== this.holder) return undefined
    }
    const { link, hello } = await KeeperLink.open({
      connection,
      generation,
      helloMs: HELLO_MS,
      reconnect: () => this.#reattach(place),
    })
    return this.#sandbox(place, generation, link, hello)
  }

  #sandbox(place: KeptPlace, generation: number, link: KeeperLink, left?: Hello & LeftBehind): DurableSandbox {
    const { name } = place
    const { keepSeconds } = this.#options
    const renew = (): void => {
      void this.#cluster.patchPod(name, renewPatch(generation, this.#keptUntil())).catch(() => {})
    }
    let renewing: NodeJS.Timeout | undefined
    const renewFromNow = (): void => void (renewing ??= setInterval(renew, (keepSeconds * 1000) / 4).unref())
    if (left) renewFromNow()
    return new DurableSandbox({
      id: name,
      link,
      left,
      place,
      keepSeconds,
      keep: async (session) => {
        if (!(await this.#cluster.patchPod(name, keepPatch(generation, session, this.#keptUntil()))))
          throw new Error('another bridge has the pod')
        renewFromNow()
      },
      remove: () => endPod(this.#cluster, name),
      explain: (code) => (code === null ? this.#explain(name) : Promise.resolve(undefined)),
      onEnd: async (isLeft) => {
        clearInterval(renewing)
        // Also if the pod ended by itself: its object would remain.
        if (!isLeft) await this.#cluster.deletePod(name, 1).catch(() => {})
      },
    })
  }

  #keptUntil(): number {
    return Date.now() + this.#options.keepSeconds * 1000 + CLEANED_AFTER_MS
  }

  /** @throws SandboxGone, or the cluster's error while the pod may still exist */
  async #reattach({ name, uid }: KeptPlace): Promise<Connection> {
    const pod = await this.#cluster.getPod(name)
    if (pod === 'gone' || pod.uid !== uid || pod.terminated || pod.phase === 'Failed')
      throw new SandboxGone('the pod has ended')
    return attachToKeeper(this.#cluster, name, { forMs: 0 })
  }

  async #explain(name: string): Promise<SandboxExit | undefined> {
    for (const startedAt = performance.now(); ;) {
      const pod = await this.#cluster.getPod(name).catch(() => undefined)
      const known = pod === 'gone' ? undefined : pod
      const explained = explainPodEnd({ pod: known, stderr: '', spoke: true, image: this.#options.image })
      if (explained) return { signal: null, ...explained }
      if (pod === 'gone' || performance.now() - startedAt > CAUSE_MS) return undefined
      await sleep(ASK_AGAIN_MS)
    }
  }

  /** Explains why a new pod did not answer. */
  async #whyNotReady(name: string, error: unknown): Promise<BridgeError> {
    const pod = await this.#cluster.getPod(name).catch(() => undefined)
    const known = pod === 'gone' ? undefined : pod
    const explained = explainPodEnd({ pod: known, stderr: messageOf(error), spoke: false, image: this.#options.image })
    const text = `The sandbox ended before it was ready: ${explained?.detail ?? messageOf(error)}`
    return new BridgeError('SANDBOX_START_FAILED', text, { cause: error })
  }
}

function notStarted({ reason, message }: NotStarted): BridgeError {
  if (reason === 'no-room') return new BridgeError('SANDBOX_BUSY', `No sandbox can start now: ${message}`)
  return new BridgeError('SANDBOX_START_FAILED', message)
}

/** The API server answers, but the node or the sandbox does not. */
function notReached(name: string, cause: Error): BridgeError {
  const text = `The node of the kept sandbox ${name} does not answer, so its variables cannot be had now: ${cause.message}. No code ran`
  return new BridgeError('SANDBOX_BUSY', text, { hint: GIVEN_UP, cause })
}

const GIVEN_UP =
  'Retry later, or start over in a new session. A cluster gives a node up after six minutes without a word from it; ' +
  'the next cell then starts with no variables.'

function isBusy(): BridgeError {
  const text = `Another bridge is running a cell in this session, and it did not end within ${BUSY_MS / 1000} s. No code ran`
  return new BridgeError('SANDBOX_BUSY', text, { hint: 'Retry when that cell has ended.' })
}
