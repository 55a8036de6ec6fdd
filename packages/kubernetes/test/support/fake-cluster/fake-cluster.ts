// A Kubernetes API server for tests, over TLS on loopback: pods that are processes of this machine, attaching over
// WebSocket, watches, network policies, and faults that a test switches on. It does what was observed in a real
// cluster; it cannot show the network of pods.
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocketServer } from 'ws'
import { makeCertificate, type Pair } from '@sandbridge/core/test/support/machine/make-certificate.ts'
import { answerPolicies, applyPatch, readJson, refuseUpgrade, send, status, verbOf } from './answers.ts'
import { type Manifest, type PodStatus, restrictedViolations } from './manifest.ts'
import { type RunningContainer, runContainer } from './node.ts'
import { type Secret, SecretStore } from './secrets.ts'
import { PodStore } from './store.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const TOKEN = 'fake-cluster-token'
const PODS = /^\/api\/v1\/namespaces\/([^/]+)\/pods(?:\/([^/]+))?(\/attach)?$/
const SECRETS = /^\/api\/v1\/namespaces\/[^/]+\/secrets$/
const POLICIES = /^\/apis\/networking\.k8s\.io\/v1\/namespaces\/([^/]+)\/networkpolicies(?:\/([^/]+))?$/
/** A real kubelet reports the end of a container shortly after its output has ended. */
const STATUS_AFTER_MS = 150

/** A response that is sent instead of the real one. */
export interface Fault {
  method?: string
  path?: RegExp
  status: number
  body?: object
  retryAfter?: number
  /** Missing: from now on. */
  times?: number
}

export interface FakeClusterOptions {
  namespace?: string
  protocols?: string[]
  /** False: pods are plain processes with this machine's network. */
  walls?: boolean
}

export class FakeCluster {
  readonly pods = new PodStore()
  readonly secrets = new SecretStore(this.pods)
  readonly policies = new Map<string, { spec?: unknown }>()
  /** All requests, as `GET /path`. */
  readonly requests: string[] = []
  /** Verbs that RBAC was asked for, as `verb group/resource`. */
  readonly verbs = new Set<string>()
  readonly namespace: string
  readonly kubeconfig: string
  token = TOKEN
  /** Maximum number of pods. */
  quota = Infinity
  delayMs = 0
  /** How long a node keeps a deleted pod whose container has ended. Ten seconds and more were observed. */
  keptMs = 1_000
  /** `verb resource` pairs that RBAC does not allow. */
  readonly denied = new Set<string>()
  /**
   * Called for each new pod: returns what it waits for instead of running, or `unschedulable` when no node is
   * available.
   */
  hold: ((pod: Manifest) => { reason: string; message: string } | 'unschedulable' | undefined) | undefined
  /** A node reports the end of a container only after this. */
  reports: Promise<void> | undefined
  /** Open watches send nothing. */
  silentWatches = false
  protocols: string[]
  readonly #walls: boolean
  readonly #folder: string
  readonly #pair: Pair
  readonly #faults: Fault[] = []
  readonly #containers = new Map<string, RunningContainer>()
  readonly #sockets = new Set<Duplex>()
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    handleProtocols: (offered) => this.protocols.find((protocol) => offered.has(protocol)) ?? false,
  })
  readonly #watches = new Set<ServerResponse>()
  #server: Server | undefined
  #port = 0

  private constructor(pair: Pair, folder: string, options: FakeClusterOptions) {
    this.#pair = pair
    this.#folder = folder
    this.namespace = options.namespace ?? 'sandboxes'
    this.protocols = options.protocols ?? ['v5.channel.k8s.io', 'v4.channel.k8s.io']
    this.#walls = options.walls ?? true
    this.kubeconfig = path.join(folder, 'config')
  }

  static async start(options: FakeClusterOptions = {}): Promise<FakeCluster> {
    const folder = newFolder()
    const cluster = new FakeCluster(makeCertificate('fake-cluster'), folder, options)
    await cluster.listen()
    await writeFile(cluster.kubeconfig, JSON.stringify(cluster.config()))
    return cluster
  }

  get address(): string {
    return `https://127.0.0.1:${this.#port}`
  }

  get certificate(): string {
    return this.#pair.cert
  }

  /** The output of `kubectl config view --raw`. */
  config() {
    return {
      'current-context': 'fake',
      contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'tester', namespace: this.namespace } }],
      clusters: [
        {
          name: 'fake',
          cluster: {
            server: this.address,
            'certificate-authority-data': Buffer.from(this.#pair.cert).toString('base64'),
          },
        },
      ],
      users: [{ name: 'tester', user: { token: this.token } }],
    }
  }

  async listen(): Promise<void> {
    const server = createServer({ cert: this.#pair.cert, key: this.#pair.key }, (request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error))
    })
    server.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head))
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    server.listen(this.#port, '127.0.0.1')
    await once(server, 'listening')
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
  }

  /** The API server dies: connections and channels break. The nodes keep running. */
  async goAway(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  async stop(): Promise<void> {
    for (const container of this.#containers.values()) container.kill()
    await this.goAway()
    await Promise.all([...this.#containers.values()].map(({ ended }) => ended))
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }

  /** Creates the next pod, and breaks the connection instead of responding. */
  loseNextCreation(): void {
    this.#losesCreation = true
  }

  /** The node freezes, and the cluster does not know yet. */
  freeze(name: string): void {
    this.#containers.get(name)?.freeze()
  }

  /** The node continues, with everything that was sent to it meanwhile. */
  thaw(name: string): void {
    this.#containers.get(name)?.thaw()
  }

  fail(fault: Fault): void {
    this.#faults.push(fault)
  }

  heal(): void {
    this.#faults.length = 0
    this.denied.clear()
    this.hold = undefined
    this.quota = Infinity
    this.delayMs = 0
    this.keptMs = 1_000
    this.reports = undefined
    this.silentWatches = false
  }

  /** Whether the processes of a pod are running. */
  isRunning(name: string): boolean {
    return this.#containers.has(name)
  }

  pidOf(name: string): number | undefined {
    return this.#containers.get(name)?.pid
  }

  /** Ends all watches, and forgets the versions from which they could continue. */
  expireWatches(): void {
    this.pods.compact()
    this.pods.version += 1
    for (const watch of this.#watches) watch.end()
  }

  dropAttachments(name: string): void {
    this.#containers.get(name)?.dropAttachments()
  }

  /** The pod has reached its memory limit. */
  oomKill(name: string): void {
    this.#endings.set(name, { reason: 'OOMKilled' })
    this.#containers.get(name)?.kill()
  }

  /** Its node is low on a resource. */
  evict(name: string): void {
    this.#endings.set(name, { podReason: 'Evicted', message: 'The node was low on resource: memory.' })
    this.#containers.get(name)?.kill()
  }

  kill(name: string): void {
    this.#containers.get(name)?.kill()
  }

  /** Its node is unreachable. The control plane asks the pod to end, and the node never confirms it. */
  loseNode(name: string): void {
    this.#lost.add(name)
    this.#containers.get(name)?.freeze()
    this.pods.change(name, (pod) => (pod.metadata.deletionTimestamp = new Date().toISOString()))
  }

  delete(name: string, graceSeconds: number): void {
    const container = this.#containers.get(name)
    if (graceSeconds === 0 || !container) {
      container?.kill()
      this.pods.remove(name)
      return
    }
    this.pods.change(name, (pod) => (pod.metadata.deletionTimestamp ??= new Date().toISOString()))
    if (this.#lost.has(name)) return
    container.kill()
    void container.ended.then(async () => {
      await sleep(this.keptMs, undefined, { ref: false })
      this.pods.remove(name)
    })
  }

  #losesCreation = false
  readonly #lost = new Set<string>()
  readonly #endings = new Map<string, { reason?: string; podReason?: string; message?: string }>()

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.address)
    const { method = 'GET' } = request
    this.requests.push(`${method} ${url.pathname}`)
    const body = await readJson(request)
    if (this.delayMs > 0) await sleep(this.delayMs)
    const refusal = this.#refuse(request, url)
    if (refusal) return send(response, refusal.status, refusal.body, refusal.headers)
    if (url.pathname === '/version') return send(response, 200, { gitVersion: 'v1.99.0-fake' })
    if (url.pathname.endsWith('/selfsubjectaccessreviews')) return this.#review(response, body)
    if (method === 'POST' && SECRETS.test(url.pathname)) return this.secrets.create(response, body as Secret)
    const [, policyNamespace, policy] = POLICIES.exec(url.pathname) ?? []
    if (policyNamespace !== undefined) return answerPolicies(this.policies, response, method, policy, body)
    const [, namespace, name] = PODS.exec(url.pathname) ?? []
    if (namespace === undefined) return send(response, 404, status(404, 'NotFound', 'the server could not find it'))
    if (method === 'POST') return this.#create(response, body as unknown as Manifest)
    if (name === undefined && url.searchParams.get('watch') === 'true') return this.#watch(response, url)
    if (name === undefined) {
      const items = this.pods.list(url.searchParams.get('labelSelector') ?? '')
      return send(response, 200, { kind: 'PodList', metadata: { resourceVersion: String(this.pods.version) }, items })
    }
    const pod = this.pods.get(name)
    if (!pod) return send(response, 404, status(404, 'NotFound', `pods "${name}" not found`))
    if (method === 'DELETE') {
      const { gracePeriodSeconds: grace = 30 } = body as { gracePeriodSeconds?: number }
      this.delete(name, grace)
    }
    if (method === 'PATCH' && !this.#patch(name, body)) {
      const why = 'the server rejected our request due to an error in our request'
      return send(response, 422, status(422, 'Invalid', why))
    }
    send(response, 200, pod)
  }

  /** @returns false when a test of the patch fails */
  #patch(name: string, steps: unknown): boolean {
    const { metadata } = this.pods.get(name)!
    const patched = applyPatch({ metadata }, steps)
    if (patched) this.pods.change(name, (pod) => (pod.metadata = patched.metadata))
    return patched !== undefined
  }

  #refuse(request: IncomingMessage, url: URL) {
    const fault = this.#faults.find(
      (one) =>
        (one.method === undefined || one.method === request.method) &&
        (one.path === undefined || one.path.test(url.pathname)) &&
        one.times !== 0,
    )
    if (fault) {
      if (fault.times !== undefined) fault.times -= 1
      const body = fault.body ?? status(fault.status, 'Fault', `fault ${fault.status}`)
      const headers = fault.retryAfter === undefined ? {} : { 'Retry-After': String(fault.retryAfter) }
      return { status: fault.status, body, headers }
    }
    if (request.headers.authorization !== `Bearer ${this.token}`)
      return { status: 401, body: status(401, 'Unauthorized', 'Unauthorized') }
    const [, group, namespace, resource, subresource] =
      /^\/(api\/v1|apis\/[^/]+\/v1\w*)\/namespaces\/([^/]+)\/([^/]+)(?:\/[^/]+(\/[^/]+)?)?$/.exec(url.pathname) ?? []
    if (group === undefined) return undefined
    const what = `${resource}${subresource ?? ''}`
    const verb = verbOf(request.method ?? 'GET', url)
    const verbs = subresource === '/attach' ? [verb, 'create'] : [verb]
    for (const one of verbs) this.verbs.add(`${one} ${/^apis\/([^/]+)/.exec(group)?.[1] ?? ''}/${what}`)
    if (verbs.some((one) => this.denied.has(`${one} ${what}`))) {
      const why = `User "tester" cannot ${verb} resource "${what}" in API group "" in the namespace "${namespace}"`
      const name = url.pathname.split('/').at(-2)
      // Real clusters give no reason for the second right that attaching needs.
      const message = this.denied.has(`${verb} ${what}`)
        ? `${resource} is forbidden: ${why}`
        : `pods "${name}" is forbidden: `
      return { status: 403, body: status(403, 'Forbidden', message) }
    }
    if (namespace !== this.namespace)
      return { status: 404, body: status(404, 'NotFound', `namespaces "${namespace}" not found`) }
    return undefined
  }

  #review(response: ServerResponse, body: unknown): void {
    const { verb, resource, subresource } = (
      body as { spec: { resourceAttributes: { verb: string; resource: string; subresource?: string } } }
    ).spec.resourceAttributes
    const what = subresource === undefined ? resource : `${resource}/${subresource}`
    send(response, 201, { status: { allowed: !this.denied.has(`${verb} ${what}`) } })
  }

  #create(response: ServerResponse, pod: Manifest): void {
    const { name } = pod.metadata
    const forbidden = (why: string) =>
      send(response, 403, status(403, 'Forbidden', `pods "${name}" is forbidden: ${why}`))
    const violations = restrictedViolations(pod)
    if (violations.length > 0) return forbidden(`violates PodSecurity "restricted:latest": ${violations.join(', ')}`)
    if (this.pods.get(name)) return send(response, 409, status(409, 'AlreadyExists', `pods "${name}" already exists`))
    const used = this.pods.list().filter(({ status: is }) => is?.phase === 'Pending' || is?.phase === 'Running').length
    if (used >= this.quota)
      return forbidden(`exceeded quota: sandboxes, requested: pods=1, used: pods=${used}, limited: pods=${this.quota}`)
    pod.status = { phase: 'Pending' }
    this.pods.add(pod)
    void this.#schedule(pod)
    if (this.#losesCreation) {
      this.#losesCreation = false
      response.destroy()
    } else send(response, 201, pod)
  }

  async #schedule(pod: Manifest): Promise<void> {
    const { name } = pod.metadata
    const container = pod.spec.containers[0]!
    const held = this.hold?.(pod)
    if (held === 'unschedulable') {
      const message = '0/2 nodes are available: 2 Insufficient memory.'
      const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }]
      return this.#setStatus(name, { phase: 'Pending', conditions })
    }
    const conditions = [{ type: 'PodScheduled', status: 'True' }]
    const waiting = held ?? { reason: 'ContainerCreating' }
    this.#setStatus(name, {
      phase: 'Pending',
      conditions,
      containerStatuses: [{ name: container.name, state: { waiting } }],
    })
    if (held) return
    const variables = await this.secrets.environmentOf(container, name, (message) => {
      const state = { waiting: { reason: 'CreateContainerConfigError', message } }
      this.#setStatus(name, { phase: 'Pending', conditions, containerStatuses: [{ name: container.name, state }] })
    })
    if (!variables) return
    const running = await runContainer(container, this.#walls, variables)
    this.#containers.set(name, running)
    // It was deleted before it started.
    if (!this.pods.get(name) || this.pods.get(name)!.metadata.deletionTimestamp !== undefined) running.kill()
    const startedAt = new Date().toISOString()
    this.#setStatus(name, {
      phase: 'Running',
      conditions,
      containerStatuses: [{ name: container.name, state: { running: { startedAt } } }],
    })
    const exitCode = await running.ended
    this.#containers.delete(name)
    await sleep(STATUS_AFTER_MS)
    await this.reports
    const ending = this.#endings.get(name)
    const reason = ending?.reason ?? (exitCode === 0 ? 'Completed' : 'Error')
    const terminated = { exitCode, reason, finishedAt: new Date().toISOString() }
    const containerStatuses = [{ name: container.name, state: { terminated } }]
    // Since Kubernetes 1.27, a node may report this shortly before the pod has ended.
    this.#setStatus(name, { phase: 'Running', conditions, containerStatuses })
    this.#setStatus(name, {
      phase: exitCode === 0 ? 'Succeeded' : 'Failed',
      ...(ending?.podReason !== undefined && { reason: ending.podReason, message: ending.message ?? '' }),
      conditions,
      containerStatuses,
    })
  }

  #setStatus(name: string, to: PodStatus): void {
    this.pods.change(name, (pod) => (pod.status = to))
  }

  #watch(response: ServerResponse, url: URL): void {
    const write = (event: object) => {
      if (!this.silentWatches) response.write(`${JSON.stringify(event)}\n`)
    }
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.flushHeaders()
    const selector = url.searchParams.get('labelSelector') ?? ''
    const stop = this.pods.watch(Number(url.searchParams.get('resourceVersion')), selector, ({ type, object }) =>
      write({ type, object }),
    )
    if (!stop) {
      response.end(`${JSON.stringify({ type: 'ERROR', object: status(410, 'Expired', 'too old resource version') })}\n`)
      return
    }
    this.#watches.add(response)
    response.on('close', () => {
      stop()
      this.#watches.delete(response)
    })
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const url = new URL(request.url ?? '/', this.address)
    this.requests.push(`GET ${url.pathname}`)
    if (this.delayMs > 0) await sleep(this.delayMs)
    const [, , name = '', isAttach] = PODS.exec(url.pathname) ?? []
    const container = this.#containers.get(name)
    const refusal =
      this.#refuse(request, url) ??
      (isAttach && container ? undefined : { status: 404, body: status(404, 'NotFound', 'container not found') })
    if (container?.isFrozen) {
      const why = 'error dialing backend: dial tcp 10.0.0.2:10250: connect: no route to host'
      return refuseUpgrade(socket, { status: 500, body: status(500, 'InternalError', why) })
    }
    if (refusal || !container) {
      refuseUpgrade(socket, refusal)
      return
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on('error', () => {})
      container.attach(webSocket)
    })
  }
}
