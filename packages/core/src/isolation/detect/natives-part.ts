// Sandboxes other than the embedded one, as far as the core knows them: packages/native chooses among them.
import type { Settings } from '../../config/settings/settings.ts'
import type { Log } from '../../util/log.ts'
import { Part } from '../../util/part.ts'
import type { Candidate, Provider, ProviderName, MountedFolder } from '../provider.ts'

export const natives = new Part<NativesPart>('the choice of native sandboxes')

interface NativesPart {
  /** @param isRemembered `auto` remembers what it takes between starts */
  chooseProvider: (settings: Settings, log: Log, isRemembered: boolean) => ProviderChoice
  /**
   * Returns every provider with its verdict, in the order of `auto`. Everything it starts ends again.
   * @param tryOut starts a sandbox of a provider that seems usable and is ready for that
   */
  probeProviders: (settings: Settings, tryOut: (name: ProviderName) => Promise<unknown>) => Promise<Candidate[]>
  /** Every sandbox of this machine may be tried again. */
  forgetFailures: (settings: Settings) => void
}

/** A provider that was preferred and could not be used, with the reason. */
export interface PassedOver {
  name: ProviderName
  verdict: string
}

export interface FoundProvider {
  provider: Provider
  /** What `auto` found of it. */
  verdict?: string
  /** Providers that `auto` prefers but could not use, with reasons. */
  passedOver: PassedOver[]
}

/** Returns the same provider every time. All callers that wait for it get the progress messages. */
export interface ProviderChoice {
  (onProgress?: (message: string) => void): Promise<FoundProvider>
  /** The first sandbox did not start: the next call returns another provider. @returns why; undefined without one */
  passOver?: (provider: Provider, error: unknown) => string | undefined
}

export const containers = new Part<ContainerPart>('the container provider')

export type EngineName = 'podman' | 'docker'

interface ContainerPart {
  createProvider: (name: EngineName, settings: Settings, mount: MountedFolder | undefined) => Promise<Provider>
  /**
   * Asks the engine, and starts nothing.
   * @param image asks registries for it; missing: any image will do
   * @param inBackground the bridge's exit does not wait for it
   */
  probe: (name: EngineName, image: string | undefined, inBackground?: boolean) => Promise<Candidate>
  /** Builds an image of this package. @returns its engine, and the name for MCP_BRIDGE_IMAGE @throws BridgeError */
  buildImage: (variant: string, options: BuildOptions) => Promise<{ engine: EngineName; image: string }>
}

export interface BuildOptions {
  /** The engine to build with; missing: the first usable one of podman and docker. */
  engine?: EngineName
  /** The base image, in place of the one in the Containerfile. */
  base?: string
  /** The image from which the variant `node` copies its Node, in place of the one in the Containerfile. */
  node?: string
  /** Called with every line of the engine's output. */
  onLine?: (line: string) => void
}

/** The setting that asks for this part. */
export const AS_PODS = 'MCP_BRIDGE_RUNTIME=kubernetes'

export const kubernetes = new Part<KubernetesPart>('Kubernetes')

interface KubernetesPart {
  /** @throws BridgeError CONFIG_INVALID for settings that pods do not support */
  createProvider: (settings: Settings, mount: unknown) => Provider
  /** Describes in one sentence whether a cluster can be used. Creates nothing there. */
  describeCluster: (cluster: DescribedCluster) => Promise<{ usable: boolean; verdict: string }>
  /** Newest first. @throws BridgeError */
  listKeptPods: (cluster: ClusterChoice) => Promise<KeptPod[]>
  /** Ends a pod that no bridge has. @returns 'removed', or why it was not removed @throws BridgeError */
  removeKeptPod: (cluster: ClusterChoice, name: string) => Promise<'removed' | 'missing' | { holder: string }>
}

export interface ClusterChoice {
  context?: string | undefined
  namespace?: string | undefined
}

export interface DescribedCluster extends ClusterChoice {
  /** True if servers run in pods, too. */
  hasServers: boolean
  /** True if pods outlive the bridge. */
  isDurable?: boolean
}

/** A pod that belongs to a session. */
export interface KeptPod {
  name: string
  /** `in use` by a bridge, `waiting` for one, `ended`, or `no answer`: its node may be gone. */
  state: 'in use' | 'waiting' | 'ended' | 'no answer'
  /** The bridge that had it last. */
  holder: string
  client: string | undefined
  createdAt: number
}
