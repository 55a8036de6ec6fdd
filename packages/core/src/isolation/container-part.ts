// Sandboxes as containers of podman or docker, as far as the core knows them.
import { Part } from '../util/part.ts'
import type { MountedFolder } from './local/mounted-folder.ts'
import type { Candidate, Provider } from './provider.ts'

export const containers = new Part<ContainerPart>('the container provider')

export type EngineName = 'podman' | 'docker'

interface ContainerPart {
  createProvider: (name: EngineName, options: ContainerOptions) => Promise<Provider>
  /**
   * Asks the engine, and starts nothing.
   * @param image asks registries for it; missing: any image will do
   * @param inBackground the bridge's exit does not wait for it
   */
  probe: (name: EngineName, image: string | undefined, inBackground?: boolean) => Promise<Candidate>
  /** Builds an image of this package. @returns its engine, and the name for MCP_BRIDGE_IMAGE @throws BridgeError */
  buildImage: (variant: string, options: BuildOptions) => Promise<{ engine: EngineName; image: string }>
}

/** Options for all containers of a bridge; docs/configuration.md explains them. */
export interface ContainerOptions {
  image: string
  /** `user` or `user:group` inside the container. */
  user: string
  pidsCount: number
  cpus?: number | undefined
  ociRuntime?: string | undefined
  mount?: MountedFolder | undefined
  /** Give cells a folder `/projects`. */
  projects?: boolean
  /** Packages that cells can import, built into a separate image. */
  packages?: readonly string[]
  /** Cache folder, kept between runs. */
  cacheDir?: string
  /** How long to wait for an image that is being pulled. Missing: until it is here. */
  pullPatienceMs?: number | undefined
  /** Let frames bypass an engine on this machine. Default true. */
  direct?: boolean
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
