// The latest known state of a pod, and its changes, by the watch; callers that cannot rely on it also poll.
import { withTimeout } from '@sandbridge/core/util/async'
import type { Cluster } from '../cluster.ts'
import type { PodState } from './pod-state.ts'

export class FollowedPod {
  /** The latest state from the cluster; `gone` once the pod does not exist. */
  state: PodState | 'gone' | undefined
  readonly #cluster: Cluster
  readonly #name: string
  readonly #follow: { created: () => void; stop: () => void }
  readonly #waiting = new Set<() => void>()

  /** @param name of a pod that is about to be created */
  constructor(cluster: Cluster, name: string) {
    this.#cluster = cluster
    this.#name = name
    this.#follow = cluster.watcher.follow(name, (pod) => this.#see(pod ?? 'gone'))
  }

  /** Call after the pod was created: from now on, a missing pod counts as gone. */
  created(): void {
    this.#follow.created()
  }

  stop(): void {
    this.#follow.stop()
  }

  /** Resolves with true when the pod changes or `wake` is called; with false after `ms`. */
  changed(ms?: number): Promise<boolean> {
    const changed = new Promise<boolean>((resolve) => this.#waiting.add(() => resolve(true)))
    return ms === undefined ? changed : withTimeout(changed, ms, () => false)
  }

  /** Waits for a change, then asks the cluster if none came. Takes at most twice `ms`, and never rejects. */
  async changedOrAsked(ms: number): Promise<void> {
    if (await this.changed(ms)) return
    const asking = this.#cluster.getPod(this.#name).then((state) => this.#see(state))
    // An unreachable API server says nothing about the pod.
    await withTimeout(
      asking.catch(() => {}),
      ms,
      () => {},
    )
  }

  wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  #see(state: PodState | 'gone'): void {
    this.state = state
    this.wake()
  }
}
