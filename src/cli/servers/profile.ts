// `sandbridge profile`: lists, defines and deletes named sets of servers.
import { PROFILE_NAME, Profiles } from '../../config/profiles.ts'
import { loadSettings } from '../../config/settings/file/load-settings.ts'
import { BridgeError } from '../../errors.ts'
import { openBridge } from '../terminal/open-bridge.ts'
import { print, printEmpty, printJson, printSummary, printTable } from '../terminal/print.ts'

export async function listProfiles({ json }: { json?: boolean }): Promise<void> {
  const { stateDir, profile } = await loadSettings()
  const all = await new Profiles(stateDir).list()
  if (json) return printJson(all)
  const names = Object.keys(all)
  if (names.length === 0) return printEmpty('No profiles yet. Make one: sandbridge profile set work github jira')
  printTable(
    names.map((name) => [
      { text: name, style: 'cyan' },
      name === profile ? 'in use' : '',
      all[name]!.servers.join(' '),
    ]),
    { head: ['PROFILE', '', 'SERVERS'] },
  )
  printSummary(`Use one: MCP_BRIDGE_PROFILE=${names[0]}`)
}

/** @throws BridgeError CONFIG_INVALID for an invalid name, and for a server that no file defines */
export async function setProfile(name: string, servers: string[]): Promise<void> {
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
        hint: `Servers: ${known.join(', ')}.`,
      })
    }
    await new Profiles(bridge.settings.stateDir).set(name, servers)
    print(`${name}: ${servers.join(' ')}. Use it with MCP_BRIDGE_PROFILE=${name}.`)
  } finally {
    await bridge.close()
  }
}

export async function removeProfile(name: string): Promise<void> {
  await new Profiles((await loadSettings()).stateDir).remove(name)
  print(`Deleted the profile ${name}.`)
}
