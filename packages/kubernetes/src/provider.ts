// Sandboxes in pods of a Kubernetes cluster. Uses only the core API: pods, `pods/attach` and one NetworkPolicy.
// Scheduling, images and quotas are left to the cluster.
import { randomBytes, randomInt } from 'node:crypto'
import { hostname } from 'node:os'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { isImagePath } from '@sandbridge/native/choose/image-name.ts'
import { checkMemoryLimit, kernelEnvironment, loadNativeKernel } from '@sandbridge/native/native-kernel.ts'
import { SharedPreparation } from '@sandbridge/core/isolation'
import type {
  KeptSession,
  MissingPackage,
  Program,
  Provider,
  Resumed,
  Sandbox,
  SandboxLimits,
  StartedProgram,
} from '@sandbridge/core/isolation'
import type { ClusterChoice } from '@sandbridge/core/parts'
import { PATIENCE_MS } from './api/api-client.ts'
import type { Cluster } from './cluster.ts'
import { KeptPods } from './kept/kept-pods.ts'
import { removeLeftovers } from './leftovers.ts'
import { CHECK_PROGRAM, checkNetwork, networkTargets, type Target } from './network-check.ts'
import { ensureNetworkPolicy } from './network-policy.ts'
import { openCluster } from './open-cluster.ts'
import { firstClaim } from './kept/pod-claim.ts'
import { FILE_BYTES, podManifest, type PodOptions } from './pod/pod-manifest.ts'
import { PodSandbox } from './pod-sandbox.ts'
import { startProgram } from './start-program.ts'

/** The default of MCP_BRIDGE_CONTAINER_USER. */
const DEFAULT_USER = '65534'

/** Options for all pods of a bridge; docs/configuration.md explains them. */
export interface PodProviderOptions extends ClusterChoice {
  image: string
  /** Configured packages, which pods cannot have. */
  packages?: readonly string[]
  /** `user` or `user:group`, as numbers. */
  user: string
  pidsCount: number
  cpus?: number | undefined
  runtimeClass?: string | undefined
  seccompProfile?: string | undefined
  projects?: boolean
  /** Refuse a cluster whose pods have network access. */
  checksNetwork: boolean
  startTimeoutMs: number
  /** Set if pods outlive the bridge: how long each waits for the next one. */
  keepSeconds?: number | undefined
  /** Targets for the network check, in place of the usual ones: tests reach nothing else. */
  targets?: readonly Target[]
  /** A factor of the time limits of a pod and of requests. */
  pace?: number
}

/** Memory of the network check's pod, enough for Python with threads. */
const CHECK_MEMORY_BYTES = 128 << 20
/** A pod that waits for a node does not delay others. The limit leaves room for other users of the API server. */
const STARTS_AT_ONCE = 16
/** A pod ends itself if its bridge does not connect in this time. The bridge connects as soon as it runs. */
const INPUT_S = 120
const CLEAN_MS = 15 * 60_000

const NOT_IN_PODS =
  'pods have the packages of their image. Build one with it, push it to a registry of the cluster, and set MCP_BRIDGE_IMAGE'

export class KubernetesProvider implements Provider {
  readonly name = 'kubernetes'
  readonly startsAtOnce = STARTS_AT_ONCE
  readonly missingPackages: readonly MissingPackage[]
  readonly #options: PodProviderOptions
  readonly #cluster = new SharedPreparation((onProgress) => this.#openCluster(onProgress))

  /** @throws BridgeError CONFIG_INVALID for a user that pods cannot have */
  constructor(options: PodProviderOptions) {
    podUser(options.user)
    this.#options = options
    this.missingPackages = (options.packages ?? []).map((word) => ({ word, name: word, reason: NOT_IN_PODS }))
  }

  /**
   * Find the cluster, cut its pods off from the network, verify that, and remove what ended bridges left behind.
   * @throws BridgeError CONFIG_INVALID, SANDBOX_ENGINE_MISSING, SANDBOX_BUSY, SANDBOX_START_FAILED
   */
  async prepare(onProgress?: (message: string) => void): Promise<void> {
    await this.#cluster.get(onProgress)
  }

  /** @throws BridgeError as `prepare` does, CONFIG_INVALID for a memory limit that is too low for Python */
  async start(limits: SandboxLimits): Promise<Sandbox> {
    checkMemoryLimit(limits)
    const cluster = await this.#cluster.get()
    const kernel = loadNativeKernel()
    const name = newPodName()
    const { memoryBytes } = limits
    const { keepSeconds, pidsCount } = this.#options
    const words = {
      id: name,
      ...(keepSeconds !== undefined && { kept: 1 as const }),
      memoryBytes,
      pidsCount,
      compiled: undefined,
      fileBytes: FILE_BYTES,
      inputSeconds: INPUT_S,
    }
    const { args, preamble } = kernel.start(words)
    return this.#create(cluster, {
      name,
      memoryBytes,
      pythonArgs: args,
      preamble,
      isDurable: keepSeconds !== undefined,
    })
  }

  /** @throws BridgeError as `prepare` does, SANDBOX_BUSY */
  async resume(session: KeptSession): Promise<Resumed> {
    return this.#withKept((kept) => kept.resume(session), {})
  }

  async keeps(session: KeptSession): Promise<boolean> {
    return this.#withKept((kept) => kept.keeps(session), false)
  }

  async #withKept<T>(work: (kept: KeptPods) => Promise<T>, otherwise: T): Promise<T> {
    if (this.#options.keepSeconds === undefined) return otherwise
    const cluster = await this.#cluster.get()
    return cluster.explained('get', 'pods', () => work(this.#kept(cluster)))
  }

  #kept(cluster: Cluster): KeptPods {
    const { keepSeconds = 0, image } = this.#options
    return new KeptPods(cluster, { keepSeconds, image })
  }

  /** @throws BridgeError as `start` does */
  async startProgram(program: Program, { memoryBytes }: SandboxLimits): Promise<StartedProgram> {
    const cluster = await this.#cluster.get()
    const { image } = program
    const { startTimeoutMs, pace } = this.#options
    const name = newPodName()
    // The nodes' profile is for kernels: it does not allow network sockets.
    const pod = this.#manifest(cluster, { name, memoryBytes, image, seccompProfile: undefined })
    return this.#explained(cluster, () => startProgram(program, { cluster, name, pod, startTimeoutMs, pace }))
  }

  #create(cluster: Cluster, { preamble, isDurable = false, ...parts }: PodParts): Promise<Sandbox> {
    const { image, startTimeoutMs, pace } = this.#options
    const { name } = parts
    const kept = this.#kept(cluster)
    const manifest = this.#manifest(cluster, { ...parts, ...(isDurable && { durable: firstClaim(kept.holder) }) })
    return this.#explained(cluster, (): Promise<Sandbox> =>
      isDurable
        ? kept.start({ name, image, manifest, preamble, startTimeoutMs })
        : PodSandbox.create({ cluster, name, image, manifest, preamble, startTimeoutMs, pace }),
    )
  }

  #manifest(cluster: Cluster, parts: Pick<PodOptions, 'name' | 'memoryBytes'> & Partial<PodOptions>) {
    const { image, user, cpus, runtimeClass, seccompProfile, projects = false } = this.#options
    return podManifest({
      bridge: cluster.bridge,
      startedBy: `${hostname()} process ${process.pid}`,
      image,
      ...podUser(user),
      cpus,
      projects,
      runtimeClass,
      seccompProfile,
      environment: kernelEnvironment(Math.max(1, Math.ceil(cpus ?? 1))),
      pythonArgs: [],
      ...parts,
    })
  }

  async #explained<T>(cluster: Cluster, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const explained = cluster.explain(error, { verb: 'create', resource: 'pods' })
      // The user may fix the credentials while the bridge runs, so the next call looks again.
      if (explained.code === 'SANDBOX_ENGINE_MISSING') this.#cluster.forget()
      throw explained
    }
  }

  async #openCluster(onProgress: (message: string) => void): Promise<Cluster> {
    const { context, namespace, checksNetwork, startTimeoutMs, targets, pace } = this.#options
    const { access, cluster } = await openCluster({ context, namespace }, pace && PATIENCE_MS * pace)
    await ensureNetworkPolicy(cluster)
    // Cleans up in the background; failures are ignored.
    void removeLeftovers(cluster).catch(() => {})
    // Repeated, because a pod that outlives bridges may have no later start that cleans up.
    if (this.#options.keepSeconds !== undefined)
      setInterval(() => void removeLeftovers(cluster).catch(() => {}), CLEAN_MS).unref()
    if (checksNetwork) {
      onProgress('checking that pods of the cluster have no network')
      const pod = await this.#create(cluster, {
        name: newPodName(),
        memoryBytes: CHECK_MEMORY_BYTES,
        pythonArgs: ['-I', '-B', '-c', CHECK_PROGRAM],
        preamble: Buffer.alloc(0),
      })
      await checkNetwork(pod, targets ?? (await networkTargets(access.server)), startTimeoutMs)
    }
    return cluster
  }
}

interface PodParts {
  name: string
  memoryBytes: number
  pythonArgs: readonly string[]
  preamble: Buffer
  isDurable?: boolean
}

function newPodName(): string {
  return `sandbridge-${randomBytes(8).toString('hex')}`
}

/** Refuses settings that pods do not support. @throws BridgeError CONFIG_INVALID */
export function refuseForPods(settings: { mount: unknown; image: string }): void {
  if (isImagePath(settings.image)) {
    throw new BridgeError('CONFIG_INVALID', `A cluster cannot use a folder or an archive: ${settings.image}`, {
      hint: 'Push an image to a registry of the cluster, and set MCP_BRIDGE_IMAGE to its name.',
    })
  }
  if (settings.mount !== undefined) {
    throw new BridgeError('CONFIG_INVALID', 'A pod cannot have the folder of MCP_BRIDGE_MOUNT', {
      hint: 'Unset MCP_BRIDGE_MOUNT: the nodes of a cluster do not have the folders of this machine.',
    })
  }
}

// A pod's user. Nodes that do not count processes per pod count by user: each gets its own, so that a fork bomb affects
// no other, unless a number is configured, as some clusters prescribe one.

/** @throws BridgeError CONFIG_INVALID for root, and for a name, which a cluster cannot look up in an image */
function podUser(setting: string): { user: number; group: number } {
  const [user = '', group = user] = setting.split(':')
  if (!/^\d+$/.test(user) || !/^\d+$/.test(group) || Number(user) === 0) {
    throw new BridgeError('CONFIG_INVALID', `A pod cannot run as MCP_BRIDGE_CONTAINER_USER=${setting}.`, {
      hint: 'Unset it, or set the numbers of an unprivileged user and its group, such as 65534:65534.',
    })
  }
  return { user: user === DEFAULT_USER ? randomInt(10_000, 60_000) : Number(user), group: Number(group) }
}
