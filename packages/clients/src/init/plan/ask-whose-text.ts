// Asks whether the user trusts the text of servers that seem to know only their own data. Says why; needs a yes.
import type { OpenTenant } from '@sandbridge/core/bridge'
import type { ServerDefinition } from '@sandbridge/core/config/entries'
import { count } from '@sandbridge/core/util/text'
import { print, visibleInline } from '@sandbridge/core/serve/cli/terminal'
import { confirm } from '@sandbridge/shared/terminal/confirm.ts'

const QUESTION = 'Can only you write what it returns, so that a model may act on its text? [y/N] '

export async function askWhoseText({ discovered, catalog, rules }: OpenTenant): Promise<void> {
  for (const definition of discovered.servers) {
    const { name } = definition
    const offer = rules.trustOf(name)
    if (!offer || definition.isOwnText || rules.trustsText(name)) continue
    const why = ownDataSign(
      definition,
      catalog.details(name).tools.map((tool) => tool.definition.annotations?.openWorldHint),
    )
    if (why === undefined) continue
    print(visibleInline(`\n${name}: ${why}`))
    if (await confirm(QUESTION)) await rules.trustAlways(offer)
  }
}

/** Why a server on this machine may know only its user's data. A remote one shares what it knows with others. */
function ownDataSign({ transport }: ServerDefinition, openWorld: readonly unknown[]): string | undefined {
  if (transport.type !== 'stdio') return undefined
  if (transport.sandbox && !transport.sandbox.network) return 'it runs in a jail without network, on this machine'
  if (openWorld.length === 0 || openWorld.some((hint) => hint !== false)) return undefined
  return `it runs on this machine, and says of ${count(openWorld.length, 'tool')} that they reach nothing outside (openWorldHint)`
}
