// Profiles: named sets of servers. With MCP_BRIDGE_PROFILE, a bridge has only the servers of that profile.
import path from 'node:path'
import * as z from 'zod'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { JsonDocument } from '@sandbridge/core/util/stores'
import { didYouMeanText } from '@sandbridge/core/util/text'
import type { DiscoveredServers, ServerDefinition } from '@sandbridge/core/config/entries'

export const PROFILE_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/

const serverNames = z.array(z.string().min(1).max(200)).max(1_000)
const profile = z.object({
  servers: serverNames,
  /** Servers whose tools are listed to the client by themselves, or `server__tool`, with `*` for any text. */
  direct: serverNames.optional(),
})
const profiles = z.record(z.string().regex(PROFILE_NAME), profile)

export type Profile = z.infer<typeof profile>

export class Profiles {
  readonly file: string
  readonly #document: JsonDocument<Record<string, Profile>>

  constructor(stateDir: string) {
    this.file = path.join(stateDir, '.sandbridge', 'profiles.json')
    this.#document = new JsonDocument({
      document: this.file,
      empty: () => ({}),
      parse: (json) => profiles.safeParse(json).data,
      damaged: { name: 'The list of profiles', hint: 'Correct the file, or delete it and make the profiles again.' },
    })
  }

  list(): Promise<Record<string, Profile>> {
    return this.#document.read()
  }

  /** @param namedBy a sentence on what named it, if not the command @throws BridgeError CONFIG_INVALID */
  async get(name: string, namedBy = ''): Promise<Profile> {
    const all = await this.list()
    const found = Object.hasOwn(all, name) ? all[name] : undefined
    if (found) return found
    const names = Object.keys(all)
    const there =
      names.length > 0
        ? `Profiles: ${names.join(', ')}.`
        : 'There are none yet. Make one: sandbridge profile NAME SERVERS'
    throw new BridgeError('CONFIG_INVALID', `There is no profile '${name}'`, {
      hint: `${namedBy}${didYouMeanText(name, names) || there}`,
    })
  }

  async set(name: string, made: Profile): Promise<void> {
    await this.#document.update((all) => void (all[name] = made))
  }

  /** @throws BridgeError CONFIG_INVALID when no profile has this name */
  async remove(name: string): Promise<void> {
    await this.get(name)
    await this.#document.update((all) => void delete all[name])
  }
}

/** Keeps only the servers of a profile. @param note is told of the file with the profiles, before it is read */
export async function inProfile(
  discovered: DiscoveredServers,
  { name, namedBy, stateDir }: { name: string; namedBy: string; stateDir: string },
  note: (file: string) => void,
): Promise<DiscoveredServers> {
  const kept = new Profiles(stateDir)
  note(kept.file)
  return onlyProfile(discovered, await kept.get(name, namedBy), kept.file)
}

/** Reports those that are missing. */
function onlyProfile(
  discovered: DiscoveredServers,
  { servers, direct = [] }: Profile,
  file: string,
): DiscoveredServers {
  const wanted = new Set(servers)
  const known = new Set(discovered.found.map(({ name }) => name))
  const missing = servers.filter((name) => !known.has(name))
  return {
    ...discovered,
    servers: discovered.servers.filter(({ name }) => wanted.has(name)).map((one) => withDirect(one, direct)),
    untrusted: discovered.untrusted.filter(({ name }) => wanted.has(name)),
    skipped: [
      ...discovered.skipped,
      ...missing.map((name) => ({ file, name, reason: 'is in the profile, and no file defines it' })),
    ],
  }
}

/** A server as the profile lists it to the client, if it does. */
function withDirect(definition: ServerDefinition, direct: readonly string[]): ServerDefinition {
  const { name } = definition
  if (direct.includes(name)) return { ...definition, direct: true }
  const tools = direct.flatMap((one) => (one.startsWith(`${name}__`) ? one.slice(name.length + 2) : []))
  return tools.length > 0 ? { ...definition, direct: tools } : definition
}
