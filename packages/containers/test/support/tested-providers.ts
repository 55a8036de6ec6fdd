import type { TestedProviders } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { type ContainerOptions, ContainerProvider } from '../../src/provider.ts'

const engine =
  (name: 'podman' | 'docker', more: Partial<ContainerOptions> = {}) =>
  ({ image }: { image: string }) =>
    new ContainerProvider(name, { image, user: '65534:65534', pidsCount: 128, ...more })

export const TESTED: TestedProviders = {
  podman: engine('podman'),
  docker: engine('docker'),
  'podman-pipe': engine('podman', { direct: false }),
  'docker-pipe': engine('docker', { direct: false }),
}
