// The settings of registries.
import { isPlainHttpAddress, TEXTS, type Setting } from '@sandbridge/core/config/settings/setting-kinds.ts'

/** The only registry that verifies the owners of names. */
export const OFFICIAL_REGISTRY = 'https://registry.modelcontextprotocol.io'

const registries: Setting<readonly string[]> = {
  variable: 'MCP_BRIDGE_REGISTRIES',
  key: 'addresses',
  meaning: 'MCP registries that `find` and `add` search, in this order; `off` for none.',
  defaultText: 'the official registry',
  allowed: 'off, or http and https addresses separated by spaces',
  json: TEXTS,
  separator: ' ',
  whenMissing: () => [OFFICIAL_REGISTRY],
  parse: (text) => {
    if (text.toLowerCase() === 'off') return []
    const addresses = text.split(/\s+/).map((address) => address.replace(/\/+$/, ''))
    return addresses.every(isPlainHttpAddress) ? [...new Set(addresses)] : undefined
  },
  secret: true,
}

export const REGISTRY_SETTINGS = { registries } as const
