// The Secrets of the fake cluster: created once, never read through the API, in the variables of containers that name
// them, deleted with their pods.
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { send, status } from './answers.ts'
import type { Container } from './manifest.ts'
import type { PodStore } from './store.ts'

export interface Secret {
  metadata: { name: string; ownerReferences?: { kind: string; name: string; uid: string }[] }
  stringData?: Record<string, string>
}

const LOOK_AGAIN_MS = 20

export class SecretStore {
  readonly #secrets = new Map<string, Secret>()
  readonly #pods: PodStore

  constructor(pods: PodStore) {
    this.#pods = pods
    pods.watch(pods.version, '', ({ type, object }) => {
      if (type === 'DELETED') this.#collect(object.metadata.uid)
    })
  }

  list(): Secret[] {
    return [...this.#secrets.values()]
  }

  create(response: ServerResponse, secret: Secret): void {
    const { name } = secret.metadata
    if (this.#secrets.has(name))
      return send(response, 409, status(409, 'AlreadyExists', `secrets "${name}" already exists`))
    this.#secrets.set(name, secret)
    send(response, 201, secret)
  }

  /**
   * The variables of the Secrets that a container names, once these exist; undefined when its pod is deleted before.
   * @param onMissing receives the kubelet's message for a container that waits for one
   */
  async environmentOf(
    { envFrom = [] }: Container,
    pod: string,
    onMissing: (message: string) => void,
  ): Promise<Record<string, string> | undefined> {
    const environment: Record<string, string> = {}
    for (const { secretRef } of envFrom) {
      if (!this.#secrets.has(secretRef.name)) onMissing(`secret "${secretRef.name}" not found`)
      while (!this.#secrets.has(secretRef.name)) {
        if (!this.#pods.get(pod)) return undefined
        await sleep(LOOK_AGAIN_MS)
      }
      Object.assign(environment, this.#secrets.get(secretRef.name)?.stringData)
    }
    return environment
  }

  /** Like the garbage collector, however the pod ended. */
  #collect(uid: string | undefined): void {
    for (const [name, { metadata }] of this.#secrets) {
      if (metadata.ownerReferences?.some((owner) => owner.uid === uid)) this.#secrets.delete(name)
    }
  }
}
