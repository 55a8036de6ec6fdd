// Which settings were given and do nothing in the sandbox that is used. For `sandbridge doctor`. Pure.
import type { ProviderName } from '../sandbox/provider.ts'

const CONTAINERS: readonly ProviderName[] = ['podman', 'docker']

/** By variable: the providers that heed it. Every provider heeds the others. */
const HEEDED_BY: Readonly<Record<string, readonly ProviderName[]>> = {
  MCP_BRIDGE_IMAGE: [...CONTAINERS, 'bubblewrap', 'kubernetes'],
  MCP_BRIDGE_CPUS: [...CONTAINERS, 'kubernetes'],
  MCP_BRIDGE_CONTAINER_USER: [...CONTAINERS, 'kubernetes'],
  MCP_BRIDGE_OCI_RUNTIME: [...CONTAINERS, 'kubernetes'],
  MCP_BRIDGE_FORK_SERVER: ['bubblewrap'],
  MCP_BRIDGE_PIDS: [...CONTAINERS, 'bubblewrap', 'kubernetes'],
  MCP_BRIDGE_KUBERNETES_CONTEXT: ['kubernetes'],
  MCP_BRIDGE_KUBERNETES_NAMESPACE: ['kubernetes'],
  MCP_BRIDGE_KUBERNETES_NETWORK: ['kubernetes'],
  MCP_BRIDGE_KUBERNETES_START: ['kubernetes'],
}

/** A sentence for each. */
export function settingsWithoutEffect(
  env: Readonly<Record<string, string | undefined>>,
  provider: ProviderName,
): string[] {
  return Object.entries(HEEDED_BY)
    .filter(([variable, providers]) => env[variable]?.trim() && !providers.includes(provider))
    .map(([variable, providers]) => `${variable} has no effect with ${provider}: only ${listed(providers)} support it.`)
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
