// One watch over all pods of a bridge, which passes changes to each pod's follower. Lists the pods, watches from there,
// and lists again if the server has dropped that history (410) or the watch broke.
import { setTimeout as sleep } from 'node:timers/promises'
import { fieldsOf, isRecord } from '@sandbridge/core/util/json/json.ts'
import type { ApiClient } from '../api/api-client.ts'
import { type PodState, readPod } from './pod-state.ts'

/** Receives a pod's state when it changes; undefined once the pod is gone. */
export type OnPod = (pod: PodState | undefined) => void

/** Duration of a watch in seconds, after which the server ends it. */
const WATCH_S = 240
/** Longest silence of a watch; a server sends a bookmark about once a minute. */
const SILENT_MS = 100_000
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 8_000

interface Follower {
  onPod: OnPod
  /** The pod has existed. Until then, its absence from a list means nothing. */
  exists: boolean
}

export class PodWatcher {
  readonly #client: ApiClient
  readonly #path: string
  readonly #labelSelector: string
  readonly #followers = new Map<string, Follower>()
  #stop: AbortController | undefined

  constructor(client: ApiClient, path: string, labelSelector: string) {
    this.#client = client
    this.#path = path
    this.#labelSelector = labelSelector
  }

  /** Follow a pod, starting before its creation. */
  follow(name: string, onPod: OnPod): { created: () => void; stop: () => void } {
    const follower: Follower = { onPod, exists: false }
    this.#followers.set(name, follower)
    this.#start()
    return {
      created: () => (follower.exists = true),
      stop: () => {
        this.#followers.delete(name)
        if (this.#followers.size > 0) return
        this.#stop?.abort()
        this.#stop = undefined
      },
    }
  }

  #start(): void {
    if (this.#stop) return
    this.#stop = new AbortController()
    void this.#watchUntil(this.#stop.signal)
  }

  async #watchUntil(signal: AbortSignal): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS
    while (!signal.aborted) {
      try {
        let version: string | undefined = await this.#list(signal)
        while (version !== undefined && !signal.aborted) {
          version = await this.#watch(version, signal)
          pauseMs = FIRST_PAUSE_MS
        }
      } catch {
        // None depends on the watch: a starting pod is polled, a running one is seen through its channel.
      }
      if (signal.aborted) return
      await sleep(pauseMs * (0.75 + Math.random() / 2), undefined, { signal, ref: false }).catch(() => {})
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
    }
  }

  /** Returns the version to watch from. */
  async #list(signal: AbortSignal): Promise<string | undefined> {
    const before = [...this.#followers].filter(([, { exists }]) => exists)
    const query = { labelSelector: this.#labelSelector }
    const list = await this.#client.request({ method: 'GET', path: this.#path, query })
    if (signal.aborted || !isRecord(list) || !Array.isArray(list['items'])) return undefined
    const seen = new Set<string>()
    for (const item of list['items'] as unknown[]) {
      const pod = readPod(item)
      if (!pod) continue
      seen.add(pod.name)
      this.#tell(pod)
    }
    for (const [name, follower] of before) if (!seen.has(name)) follower.onPod(undefined)
    const { metadata } = list
    return isRecord(metadata) && typeof metadata['resourceVersion'] === 'string'
      ? metadata['resourceVersion']
      : undefined
  }

  /** Returns the version to continue from when the server ends the watch; undefined if it must list again. */
  async #watch(version: string, signal: AbortSignal): Promise<string | undefined> {
    let latest: string | undefined = version
    const query = {
      watch: 'true',
      labelSelector: this.#labelSelector,
      resourceVersion: version,
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(WATCH_S),
    }
    const onEvent = (event: unknown) => {
      const { type, object } = fieldsOf(event)
      if (type === 'ERROR') latest = undefined
      if (type === 'ERROR' || !isRecord(object) || signal.aborted) return
      const { metadata } = object
      if (latest !== undefined && isRecord(metadata) && typeof metadata['resourceVersion'] === 'string')
        latest = metadata['resourceVersion']
      const pod = type === 'BOOKMARK' ? undefined : readPod(object)
      if (!pod) return
      if (type === 'DELETED') this.#followers.get(pod.name)?.onPod(undefined)
      else this.#tell(pod)
    }
    await this.#client.watch({ method: 'GET', path: this.#path, query }, onEvent, { signal, silentMs: SILENT_MS })
    return latest
  }

  #tell(pod: PodState): void {
    const follower = this.#followers.get(pod.name)
    if (!follower) return
    follower.exists = true
    follower.onPod(pod)
  }
}
