// One namespace of a cluster, for one bridge: its pods, the watch over them, and errors as BridgeErrors.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BridgeError } from '@sandbridge/core/errors.ts'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import type { ApiClient } from './api/api-client.ts'
import { ApiError, type Asked, clusterError } from './api/api-errors.ts'
import type { AttachChannel } from './api/attach-channel.ts'
import { type ClaimedPod, type PatchStep, readClaim } from './kept/pod-claim.ts'
import { BRIDGE_LABEL, CONTAINER } from './pod/pod-manifest.ts'
import { type PodState, readPod } from './pod/pod-state.ts'
import { PodWatcher } from './pod/pod-watcher.ts'

type Resource = 'pods' | 'secrets' | 'networkpolicies'

const GROUPS: Record<Resource, string> = {
  pods: '/api/v1',
  secrets: '/api/v1',
  networkpolicies: '/apis/networking.k8s.io/v1',
}

/** A running pod may not accept attachments yet. */
const ATTACH_FOR_MS = 8_000
const ATTACH_AGAIN_MS = 300

export class Cluster {
  /** Identifies this bridge's pods. */
  readonly bridge = randomBytes(6).toString('hex')
  readonly client: ApiClient
  readonly watcher: PodWatcher
  readonly namespace: string
  readonly #name: string

  /** @param name name of the cluster in messages */
  constructor(client: ApiClient, name: string, namespace: string) {
    this.client = client
    this.namespace = namespace
    this.#name = name
    this.watcher = new PodWatcher(client, this.path('pods'), `${BRIDGE_LABEL}=${this.bridge}`)
  }

  path(resource: Resource, name?: string): string {
    const all = `${GROUPS[resource]}/namespaces/${this.namespace}/${resource}`
    return name === undefined ? all : `${all}/${name}`
  }

  /** Create an object with a unique name. If it exists, an earlier attempt has succeeded. */
  async create(resource: Resource, body: object): Promise<'created' | 'exists'> {
    try {
      await this.client.request({ method: 'POST', path: this.path(resource), body })
      return 'created'
    } catch (error) {
      if (error instanceof ApiError && error.status === 409 && error.reason === 'AlreadyExists') return 'exists'
      throw error
    }
  }

  /** Returns `gone` if the pod does not exist. @throws ApiError, ApiUnreachable */
  async getPod(name: string): Promise<PodState | 'gone'> {
    return readPod(await this.get('pods', name)) ?? 'gone'
  }

  async listPods(labelSelector: string): Promise<unknown[]> {
    const list = await this.client.request({ method: 'GET', path: this.path('pods'), query: { labelSelector } })
    return isRecord(list) && Array.isArray(list['items']) ? (list['items'] as unknown[]) : []
  }

  /** Returns a pod that outlives bridges, with its owner. @throws ApiError, ApiUnreachable */
  async getClaim(name: string): Promise<ClaimedPod | undefined> {
    return readClaim(await this.get('pods', name))
  }

  /** Returns an object; undefined if it does not exist. @throws ApiError, ApiUnreachable */
  async get(resource: Resource, name: string): Promise<unknown> {
    return unlessGone(this.client.request({ method: 'GET', path: this.path(resource, name) }))
  }

  async listClaims(labelSelector: string): Promise<ClaimedPod[]> {
    return (await this.listPods(labelSelector)).flatMap((item) => readClaim(item) ?? [])
  }

  /** @returns false if a test of the patch failed or the pod does not exist @throws ApiError, ApiUnreachable */
  async patchPod(name: string, steps: readonly PatchStep[]): Promise<boolean> {
    try {
      await this.client.request({ method: 'PATCH', path: this.path('pods', name), body: steps })
      return true
    } catch (error) {
      if (error instanceof ApiError && [404, 409, 422].includes(error.status)) return false
      throw error instanceof ApiError ? this.explain(error, { verb: 'patch', resource: 'pods' }) : error
    }
  }

  /** @param graceSeconds 0: do not wait for the node to confirm the end */
  async deletePod(name: string, graceSeconds: 0 | 1): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: graceSeconds }
    await unlessGone(this.client.request({ method: 'DELETE', path: this.path('pods', name), body }))
  }

  /** Connects to the first process of a running pod. @throws ApiError, ApiUnreachable, BridgeError */
  async attach(pod: string, channel: AttachChannel, { forMs = ATTACH_FOR_MS, isUnwanted = (): boolean => false } = {}) {
    for (const startedAt = performance.now(); ;) {
      try {
        return await channel.connect(this.client, `${this.path('pods', pod)}/attach`, CONTAINER)
      } catch (error) {
        if (error instanceof ApiError && error.status === 403)
          throw this.explain(error, { verb: 'create', resource: 'pods/attach' })
        if (performance.now() - startedAt > forMs || isUnwanted()) throw error
        await sleep(ATTACH_AGAIN_MS)
      }
    }
  }

  /** @throws BridgeError when the cluster refuses or fails */
  async explained<T>(verb: Asked['verb'], resource: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw this.explain(error, { verb, resource })
    }
  }

  explain(error: unknown, asked: Omit<Asked, 'namespace'>): BridgeError {
    return clusterError(error, this.#name, { ...asked, namespace: this.namespace })
  }
}

/** Returns undefined if the object does not exist. */
async function unlessGone(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}
