// Finds the server that a person names, or explains why it cannot be used.
import type { OpenTenant } from '@sandbridge/core/bridge'
import { refuseUntrusted } from '@sandbridge/core/calls'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { didYouMeanText } from '@sandbridge/core/util/text'

/** The true name of a server. @throws BridgeError PROXY_SERVER_UNAVAILABLE that says what to do */
export function namedServer(
  { catalog, discovered }: Pick<OpenTenant, 'catalog' | 'discovered'>,
  given: string,
): string {
  const name = catalog.resolveServer(given)
  if (name !== undefined) return name
  refuseUntrusted([given], discovered.untrusted)
  const skipped = discovered.skipped.find((entry) => entry.name === given)
  if (skipped) {
    const why = `Server '${given}' is skipped: its entry in ${skipped.file} ${skipped.reason}`
    throw new BridgeError('PROXY_SERVER_UNAVAILABLE', why, {
      hint: 'Correct that entry. `sandbridge servers --sources` lists all that is skipped.',
    })
  }
  const names = [...catalog.servers(), ...discovered.untrusted].map((server) => server.name)
  const meant = didYouMeanText(given, names)
  const hint =
    names.length === 0
      ? 'No server is configured: run `sandbridge init`, or add one to ~/MCPs.'
      : `Servers: ${names.join(', ')}`
  throw new BridgeError('PROXY_SERVER_UNAVAILABLE', `Unknown server '${given}'`, {
    hint: [meant, hint].filter(Boolean).join('\n'),
  })
}
