// `sandbridge profile`: lists, defines and deletes named sets of servers.
import { type Profile, PROFILE_NAME, Profiles } from './profiles.ts'
import { loadSettings } from '@sandbridge/core/config/settings'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { print, printEmpty, printJson, printSummary, printTable } from '@sandbridge/core/serve/cli/terminal'
import { openBridge } from '@sandbridge/shared/open-bridge.ts'

interface ProfileOptions {
  json?: boolean
  remove?: string
  direct?: string[]
}

export async function profile(name: string | undefined, servers: string[], options: ProfileOptions): Promise<void> {
  const { stateDir, profile: inUse } = await loadSettings()
  const profiles = new Profiles(stateDir)
  if (options.remove !== undefined) {
    await profiles.remove(options.remove)
    if (options.json) printJson({ removed: options.remove })
    else print(`Deleted the profile ${options.remove}.`)
  } else if (name !== undefined && servers.length > 0) await setProfile(name, servers, options)
  else showProfiles(name === undefined ? await profiles.list() : { [name]: await profiles.get(name) }, inUse, options)
}

function showProfiles(all: Record<string, Profile>, inUse: string | undefined, { json }: ProfileOptions): void {
  if (json) return printJson(all)
  const names = Object.keys(all)
  if (names.length === 0) return printEmpty('No profiles yet. Make one: sandbridge profile work github jira')
  printTable(
    names.map((name) => [{ text: name, style: 'cyan' }, name === inUse ? 'in use' : '', all[name]!.servers.join(' ')]),
    { head: ['PROFILE', '', 'SERVERS'] },
  )
  printSummary(`Use one: MCP_BRIDGE_PROFILE=${names[0]}`)
}

/** @throws BridgeError CONFIG_INVALID for an invalid name, and for a server that no file defines */
async function setProfile(name: string, servers: string[], { json, direct }: ProfileOptions): Promise<void> {
  if (!PROFILE_NAME.test(name)) {
    throw new BridgeError('CONFIG_INVALID', `'${name.slice(0, 80)}' is not a valid name of a profile`, {
      hint: 'Use lower-case letters, digits, - and _.',
    })
  }
  // Choose from all servers: the profile in use may have fewer.
  const bridge = await openBridge({ poolCount: 0, profile: undefined })
  try {
    const known = bridge.discovered.found.map((one) => one.name)
    const unknown = servers.find((server) => !known.includes(server))
    if (unknown !== undefined) {
      throw new BridgeError('CONFIG_INVALID', `There is no server '${unknown}'`, {
        hint: known.length > 0 ? `Servers: ${known.join(', ')}.` : 'Add servers as `sandbridge servers` says.',
      })
    }
    const made = { servers, ...(direct && { direct }) }
    await new Profiles(bridge.settings.stateDir).set(name, made)
    if (json) printJson({ [name]: made })
    else print(`${name}: ${servers.join(' ')}. Use it with MCP_BRIDGE_PROFILE=${name}.`)
  } finally {
    await bridge.close()
  }
}
