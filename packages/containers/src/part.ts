// What the core uses of podman and docker.
import type { Settings } from '@sandbridge/core/config/settings'
import type { EngineName } from '@sandbridge/core/parts'
import type { Candidate, Provider, MountedFolder } from '@sandbridge/core/isolation'
import { DEFAULT_IMAGE } from '@sandbridge/native/choose/image-name.ts'
import { findImage } from './image.ts'
import { probeEngine } from './probe-engine.ts'

export { buildImage } from './build-image.ts'

const IMAGE_WORDS = {
  pullable: (image: string) => `the image ${image} is pulled at the first use`,
  missing: (image: string) =>
    `the image ${image} was not found and cannot be pulled. Build one with \`sandbridge image build slim\``,
}

/** How long `auto` waits for an engine that pulls its image, before it takes another sandbox for now. */
const PULL_PATIENCE_MS = 20_000

export async function createProvider(
  name: EngineName,
  settings: Settings,
  mount: MountedFolder | undefined,
): Promise<Provider> {
  const { image = DEFAULT_IMAGE, containerUser: user, pidsCount, cpus, ociRuntime, cacheDir } = settings
  const { packages, projects, runtime } = settings
  const pullPatienceMs = runtime === 'auto' ? PULL_PATIENCE_MS : undefined
  const { ContainerProvider } = await import('./provider.ts')
  const limits = { pidsCount, cpus, ociRuntime }
  return new ContainerProvider(name, { image, user, ...limits, mount, projects, packages, cacheDir, pullPatienceMs })
}

export async function probe(name: EngineName, image: string | undefined, inBackground = false): Promise<Candidate> {
  const { engine, verdict, stoppedMachine } = await probeEngine(name, undefined, inBackground)
  const state = engine && image !== undefined ? await findImage(engine, image) : undefined
  return {
    name,
    usable: engine !== undefined && state !== 'missing',
    isReady: state === 'here',
    verdict: state === undefined || state === 'here' ? verdict : `${verdict}; ${IMAGE_WORDS[state](image!)}`,
    ...(stoppedMachine && { asleep: true }),
    ...(engine && !engine.rootless && { rootful: true }),
  }
}
