// Stands for the controller of agent-sandbox, on a fake and on a real cluster: keeps pods of the template of
// packages/kubernetes/deploy/agent-sandbox waiting, assigns one to each claim, and deletes it with the claim. The
// controller itself is not available offline.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../../src/api/api-errors.ts'
import type { Cluster } from '../../src/cluster.ts'
import type { Claim } from './fake-cluster/claims.ts'
import type { Manifest } from './fake-cluster/manifest.ts'
import { baseObjects, WARM_POOL_BASE } from './manifests.ts'

export const POOL = 'sandbridge'
const LOOK_AGAIN_MS = 30

/** A pod of the template. @param change modifies it */
export function templatePod(
  change: (pod: Pick<Manifest, 'spec'> & { metadata: Partial<Manifest['metadata']> }) => void,
) {
  const template = baseObjects(WARM_POOL_BASE).find(({ kind }) => kind === 'SandboxTemplate')
  const { podTemplate } = structuredClone(template!.spec) as { podTemplate: Pick<Manifest, 'spec' | 'metadata'> }
  change(podTemplate)
  return podTemplate
}

export class AgentSandbox {
  /** Pods that wait for a claim. */
  readonly waiting: string[] = []
  /** Number of pods created so far. */
  created = 0
  /** Pods by the name of their claim. */
  readonly bound = new Map<string, string>()
  readonly #cluster: Cluster
  readonly #pod: ReturnType<typeof templatePod>
  readonly #replicas: number
  readonly #running: Promise<void>
  #isStopped = false

  /** @param cluster with all rights */
  constructor(cluster: Cluster, { replicas = 1, pod }: { replicas?: number; pod: ReturnType<typeof templatePod> }) {
    this.#cluster = cluster
    this.#pod = pod
    this.#replicas = replicas
    this.#running = this.#reconcile()
  }

  /** Ends the pods, too. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
    for (const name of [...this.waiting, ...this.bound.values()]) await this.#cluster.deletePod(name, 0)
  }

  async #reconcile(): Promise<void> {
    while (!this.#isStopped) {
      const claims = await this.#claims()
      for (const claim of claims.filter(({ status }) => status === undefined)) await this.#bind(claim)
      for (const [claim, pod] of this.bound) {
        if (claims.some(({ metadata }) => metadata.name === claim)) continue
        this.bound.delete(claim)
        await this.#cluster.deletePod(pod, 1)
      }
      while (this.waiting.length < this.#replicas) this.waiting.push(await this.#createPod())
      await sleep(LOOK_AGAIN_MS)
    }
  }

  async #claims(): Promise<Claim[]> {
    const list = await this.#cluster.client.request({ method: 'GET', path: this.#cluster.path('sandboxclaims') })
    return (list as { items: Claim[] }).items
  }

  async #bind({ metadata: { name }, spec }: Claim): Promise<void> {
    if (spec.warmPoolRef.name !== POOL) {
      const message = `SandboxWarmPool "${spec.warmPoolRef.name}" not found`
      return this.#say(name, { conditions: [ready('False', 'WarmPoolNotFound', message)] })
    }
    const pod = this.waiting.shift() ?? (await this.#createPod())
    this.bound.set(name, pod)
    await this.#say(name, { conditions: [ready('True', 'SandboxReady', '')], sandbox: { name: pod } })
  }

  async #say(claim: string, status: object): Promise<void> {
    const path = `${this.#cluster.path('sandboxclaims', claim)}/status`
    await this.#cluster.client
      .request({ method: 'PATCH', path, body: [{ op: 'add', path: '/status', value: status }] })
      .catch((error: unknown) => {
        // It was deleted meanwhile.
        if (!(error instanceof ApiError && error.status === 404)) throw error
      })
  }

  async #createPod(): Promise<string> {
    const name = `${POOL}-${randomBytes(4).toString('hex')}`
    const { metadata, spec } = structuredClone(this.#pod)
    this.created += 1
    await this.#cluster.create('pods', { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name }, spec })
    return name
  }
}

function ready(status: 'True' | 'False', reason: string, message: string): object {
  return { type: 'Ready', status, reason, message, lastTransitionTime: new Date().toISOString() }
}
