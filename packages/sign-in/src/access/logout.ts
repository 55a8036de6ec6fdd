// `sandbridge logout`: revokes the tokens of sign-ins where their authorization server offers that, and deletes them
// here. It knows entries that are gone by their name or address.
import type { ServerSet } from '@sandbridge/core/bridge'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { print } from '@sandbridge/core/serve/cli/terminal'
import { withBridge } from '@sandbridge/shared/open-bridge.ts'
import type { KeptSignIn } from '@sandbridge/core/upstream/auth'
import { oauth, type Revocation } from '@sandbridge/core/parts'
import { nameIn, remoteServer, serversOf } from './named-servers.ts'

interface LogoutOptions {
  all?: boolean
  /** Sign out only this user of `run --http`. */
  user?: string
}

const OUTCOMES: Record<Revocation, string> = {
  revoked: 'Its authorization server has revoked the tokens.',
  refused: 'Its authorization server did not revoke the tokens: they are deleted here and may be valid there.',
  unknown:
    'Its authorization server cannot revoke tokens: they are deleted here and stay valid there until they expire.',
  none: '',
}

/** @param given the name of an entry, which may be gone, or an address */
export async function logout(given: string | undefined, { all, user }: LogoutOptions): Promise<void> {
  await withBridge(async (bridge) => {
    const set = await serversOf(bridge, user)
    const store = set.connected.tokenStore
    if (given === undefined && !all) {
      throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'Name a server, or say --all', {
        hint: 'sandbridge logout NAME, logout ADDRESS or logout --all',
      })
    }
    const name = given === undefined ? undefined : entryNamed(set, given)
    const kept = await store.all()
    const chosen = all ? kept : kept.filter((one) => isNamed(one, name ?? given!))
    // A name that is neither of an entry nor of a sign-in is a slip.
    if (given !== undefined && chosen.length === 0 && !URL.canParse(given)) nameIn(set, given)
    const outcomes = await Promise.all(chosen.map((one) => revokeAll(set, one)))
    await store.forget(chosen.map(({ key }) => key))
    if (chosen.length === 0) return print(`There is no sign-in${all ? '' : ` to '${name ?? given}'`}.`)
    chosen.forEach(({ grants: { entry } }, i) => {
      print(`Signed out of '${entry?.name ?? name ?? given}'. ${OUTCOMES[outcomes[i]!]}`.trimEnd())
    })
  })
}

function entryNamed(set: ServerSet, given: string): string | undefined {
  try {
    return nameIn(set, given)
  } catch (error) {
    if (!BridgeError.isInstance(error)) throw error
    return undefined
  }
}

function isNamed({ grants: { entry } }: KeptSignIn, given: string): boolean {
  if (!entry) return false
  const plain = (address: string): string => address.replace(/[?#].*$/, '').replace(/\/$/, '')
  return entry.name === given || entry.url === given || plain(entry.url) === plain(given)
}

async function revokeAll(set: ServerSet, { grants: { entry, byIssuer } }: KeptSignIn): Promise<Revocation> {
  const { revokeGrant } = await oauth.for('`sandbridge logout`')
  if (!entry) return 'unknown'
  const isHere = set.configured.discovered.servers.some(({ name }) => name === entry.name)
  const definition = isHere ? await remoteServer(set, entry.name).catch(() => undefined) : undefined
  const server = definition?.url === entry.url ? definition : { url: entry.url, headers: {} }
  const outcomes = await Promise.all(
    Object.entries(byIssuer).map(([issuer, grant]) =>
      revokeGrant(grant, { server, name: entry.name, issuer, env: process.env }),
    ),
  )
  const worst: Revocation[] = ['refused', 'unknown', 'revoked']
  return worst.find((one) => outcomes.includes(one)) ?? 'none'
}
