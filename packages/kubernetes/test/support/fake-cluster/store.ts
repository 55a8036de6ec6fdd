// The objects of the fake cluster with their versions, and the history for watches.
import { randomUUID } from 'node:crypto'
import type { Manifest } from './manifest.ts'

export interface PodEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  version: number
  object: Manifest
}

export class PodStore {
  readonly #pods = new Map<string, Manifest>()
  readonly #history: PodEvent[] = []
  readonly #listeners = new Set<(event: PodEvent) => void>()
  /** Older versions are forgotten. */
  #oldest = 0
  version = 100

  get(name: string): Manifest | undefined {
    return this.#pods.get(name)
  }

  list(selector = ''): Manifest[] {
    return [...this.#pods.values()].filter((pod) => matches(pod, selector))
  }

  add(pod: Manifest): Manifest {
    pod.metadata.uid = randomUUID()
    pod.metadata.creationTimestamp = new Date().toISOString()
    this.#pods.set(pod.metadata.name, pod)
    this.#record('ADDED', pod)
    return pod
  }

  change(name: string, change: (pod: Manifest) => void): void {
    const pod = this.#pods.get(name)
    if (!pod) return
    change(pod)
    this.#record('MODIFIED', pod)
  }

  remove(name: string): void {
    const pod = this.#pods.get(name)
    if (!pod) return
    this.#pods.delete(name)
    this.#record('DELETED', pod)
  }

  /** Like etcd, drops old versions: a watch from one of them gets 410. */
  compact(): void {
    this.#oldest = this.version
  }

  /** Calls `onEvent` for past events since a version and for new ones; undefined when that version was dropped. */
  watch(since: number, selector: string, onEvent: (event: PodEvent) => void): (() => void) | undefined {
    if (since < this.#oldest) return undefined
    const listener = (event: PodEvent) => {
      if (event.version > since && matches(event.object, selector)) onEvent(event)
    }
    this.#history.forEach(listener)
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #record(type: PodEvent['type'], pod: Manifest): void {
    this.version += 1
    pod.metadata.resourceVersion = String(this.version)
    const event = { type, version: this.version, object: structuredClone(pod) }
    this.#history.push(event)
    for (const listener of this.#listeners) listener(event)
  }
}

/** `a=b`, `a!=b` and `a` (it exists), separated by commas. */
function matches({ metadata: { labels = {} } }: Manifest, selector: string): boolean {
  return selector
    .split(',')
    .filter((part) => part !== '')
    .every((part) => {
      const [, key = '', operator, value] = /^([^!=]+)(?:(!?=)(.*))?$/.exec(part) ?? []
      if (operator === undefined) return key in labels
      return operator === '=' ? labels[key] === value : labels[key] !== value
    })
}
