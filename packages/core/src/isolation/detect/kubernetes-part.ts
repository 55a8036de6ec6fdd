// Sandboxes in pods, as far as the core knows them.
import type { Settings } from '../../config/settings/settings.ts'
import { Part } from '../../util/part.ts'
import type { Provider } from '../provider.ts'

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
