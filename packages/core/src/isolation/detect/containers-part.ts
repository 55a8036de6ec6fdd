// Sandboxes of podman and docker, as far as the core knows them.
import type { Settings } from '../../config/settings/settings.ts'
import { Part } from '../../util/part.ts'
import type { Candidate, MountedFolder, Provider } from '../provider.ts'

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
