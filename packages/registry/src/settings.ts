// The settings of registries.
import { isPlainHttpAddress, setting, words } from '@sandbridge/core/config/settings'

/** The only registry that verifies the owners of names. */
export const OFFICIAL_REGISTRY = 'https://registry.modelcontextprotocol.io'

const addresses = words('off, or http and https addresses separated by spaces', /./, /\s+/)

export const REGISTRY_SETTINGS = {
  registries: setting(
    'registries.addresses',
    'MCP_BRIDGE_REGISTRIES',
    'MCP registries that `find` and `add` search, in this order, or `off`.',
    {
      ...addresses,
      defaultText: 'the official registry',
      whenMissing: () => [OFFICIAL_REGISTRY],
      type: (context) =>
        addresses
          .type(context)
          .transform((all) => (/^(off|none)$/i.test(all.join(' ')) ? [] : all.map((one) => one.replace(/\/+$/, ''))))
          .refine((all) => all.every(isPlainHttpAddress))
          .transform((all) => [...new Set(all)]),
    },
    { secret: true },
  ),
} as const
