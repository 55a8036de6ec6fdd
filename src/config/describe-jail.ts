// What a server's jail opens, in one line for a person. Pure.
import type { ServerDefinition, ServerSandbox } from './server-definition.ts'

/** Undefined for a server that is not jailed. */
export function describeJail({ transport }: Pick<ServerDefinition, 'transport'>): string | undefined {
  if (transport.type !== 'stdio' || !transport.sandbox) return undefined
  const { allowRead = [], allowWrite = [], denyRead = [] } = transport.sandbox.filesystem ?? {}
  const parts = [
    networkText(transport.sandbox.network),
    allowWrite.length > 0 ? `writes to ${allowWrite.join(', ')}` : 'writes to its own home folder only',
    ...(allowRead.length > 0 ? [`reads ${allowRead.join(', ')}`] : []),
    ...(denyRead.length > 0 ? [`never reads ${denyRead.join(', ')}`] : []),
    ...(transport.sandbox.image === undefined ? [] : [`image ${transport.sandbox.image}`]),
  ]
  return parts.join('; ')
}

function networkText(network: ServerSandbox['network']): string {
  if (network === true) return 'network of this machine'
  if (!network || network.allowedDomains.length === 0) return 'no network'
  const { allowedDomains, deniedDomains = [] } = network
  const allowed = allowedDomains.includes('*') ? 'the public internet' : allowedDomains.join(', ')
  return `network: ${allowed}${deniedDomains.length > 0 ? ` without ${deniedDomains.join(', ')}` : ''}`
}
