// What the core uses of podman and docker.
import type { ContainerOptions, EngineName } from '@sandbridge/core/parts'
import type { Candidate, Provider } from '@sandbridge/core/isolation'
import { findImage } from './image.ts'
import { probeEngine } from './probe-engine.ts'

export { buildImage } from './build-image.ts'

const IMAGE_WORDS = {
  pullable: (image: string) => `the image ${image} is pulled at the first use`,
  missing: (image: string) =>
    `the image ${image} was not found and cannot be pulled. Build one with \`sandbridge image build slim\``,
}

export async function createProvider(name: EngineName, options: ContainerOptions): Promise<Provider> {
  const { ContainerProvider } = await import('./provider.ts')
  return new ContainerProvider(name, options)
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
