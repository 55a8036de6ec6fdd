import type { TestedProviders } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { KubernetesProvider } from '../../src/provider.ts'

export const KUBERNETES = { user: '65534:65534', pidsCount: 128, checksNetwork: false, startTimeoutMs: 60_000 }

export const TESTED: TestedProviders = {
  // The cluster of KUBECONFIG. In a fake one, all images have this machine's Python.
  kubernetes: ({ image }) => new KubernetesProvider({ ...KUBERNETES, image }),
}
