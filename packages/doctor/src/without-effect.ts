// Finds settings that are set but have no effect in the chosen sandbox, for `sandbridge doctor`. Pure.
import type { ProviderName } from '@sandbridge/core/isolation'
import { listText } from '@sandbridge/core/util/text'

const CONTAINERS: readonly ProviderName[] = ['podman', 'docker']

/** The providers that use each setting, by `idOf` it. All others are used by every provider. */
const HEEDED_BY: Readonly<Record<string, readonly ProviderName[]>> = {
  MCP_BRIDGE_IMAGE: [...CONTAINERS, 'bubblewrap', 'kubernetes'],
  MCP_BRIDGE_CPUS: [...CONTAINERS, 'kubernetes'],
  MCP_BRIDGE_CONTAINER_USER: [...CONTAINERS, 'kubernetes'],
  MCP_BRIDGE_OCI_RUNTIME: [...CONTAINERS, 'kubernetes'],
  MCP_BRIDGE_FORK_SERVER: ['bubblewrap'],
  MCP_BRIDGE_HOST_PACKAGES: ['bubblewrap'],
  MCP_BRIDGE_PIDS: [...CONTAINERS, 'bubblewrap', 'kubernetes'],
  'MCP_BRIDGE_KUBERNETES=context': ['kubernetes'],
  'MCP_BRIDGE_KUBERNETES=namespace': ['kubernetes'],
  'MCP_BRIDGE_KUBERNETES=network': ['kubernetes'],
  'MCP_BRIDGE_KUBERNETES=start': ['kubernetes'],
}

/**
 * One sentence per setting.
 * @param setBy where each setting was set, by variable
 */
export function settingsWithoutEffect(setBy: Readonly<Record<string, string>>, provider: ProviderName): string[] {
  return Object.entries(HEEDED_BY)
    .filter(([variable, providers]) => setBy[variable] !== undefined && !providers.includes(provider))
    .map(
      ([variable, providers]) =>
        `${setBy[variable]} has no effect with ${provider}: only ${listText(providers)} support it.`,
    )
}
