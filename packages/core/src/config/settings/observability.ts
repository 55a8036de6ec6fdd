// Settings of the record, live events and metrics.
import { isIPv4, isIPv6 } from 'node:net'
import { choice, flag, pattern, TEXT, TOKEN, type Setting } from './setting-kinds.ts'

const metrics: Setting<{ host: string; port: number } | undefined> = {
  variable: 'MCP_BRIDGE_METRICS',
  meaning:
    'Where Prometheus can read metrics of this bridge. Needs `MCP_BRIDGE_METRICS_TOKEN` where other machines can reach it.',
  defaultText: 'none',
  allowed: 'an address with a port, such as 127.0.0.1:9464, 0.0.0.0:9464 or [::1]:9464',
  json: TEXT,
  whenMissing: () => undefined,
  parse: (text) => {
    const [, inBrackets, plain, port] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? []
    const host = inBrackets ?? plain ?? ''
    const isHost = inBrackets === undefined ? isIPv4(host) || host === 'localhost' : isIPv6(host)
    return isHost && Number(port) <= 65_535 ? { host, port: Number(port) } : undefined
  },
}

export const OBSERVABILITY_SETTINGS = {
  audit: choice(
    {
      variable: 'MCP_BRIDGE_AUDIT',
      meaning:
        'What the record of runs and calls holds: nothing (`off`), the shape and hash of arguments (`shape`), the arguments without secrets (`full`), or also the code and the answers of servers, for `sandbridge save` (`replay`).',
    },
    ['off', 'shape', 'full', 'replay'],
    'shape',
  ),
  auditRequired: flag(
    {
      variable: 'MCP_BRIDGE_AUDIT',
      member: 'required',
      key: 'auditRequired',
      meaning: 'Make no call that cannot be recorded first, such as on a full disk.',
    },
    false,
  ),
  metrics,
  metricsToken: pattern(
    {
      variable: 'MCP_BRIDGE_METRICS_TOKEN',
      meaning: 'The bearer token that Prometheus must send.',
      secret: true,
    },
    { ...TOKEN, default: undefined },
  ),
} as const
