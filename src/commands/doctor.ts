// `sandbridge doctor`: what can make sandboxes here and why or why not, and whether a cell really runs in the one that is used.
import type { Bridge } from '../bridge.ts'
import type { ServerEntry } from '../catalog/catalog.ts'
import { describeJail } from '../config/describe-jail.ts'
import type { ServerDefinition } from '../config/server-definition.ts'
import { type PassedOver, probeProviders } from '../sandbox/detect.ts'
import type { ProviderName } from '../sandbox/provider.ts'
import { messageOf } from '../errors.ts'
import { findBubblewrapJail } from '../upstream/stdio/jail/bubblewrap-jail.ts'
import { settingsWithoutEffect } from './without-effect.ts'
import { count } from '../text/count.ts'
import { VERSION } from '../version.ts'
import { withBridge } from './open-bridge.ts'
import { print, printJson, printTable } from './print.ts'
import { shortReason, untrustedNote } from './server-notes.ts'

/** Sets the exit code to 1 when no cell can be run. */
export async function doctor(options: { json?: boolean }): Promise<void> {
  await withBridge(async (bridge) => {
    const { settings, catalog, discovered } = bridge
    const providers = await probeProviders(settings.image)
    const started = performance.now()
    const trial = await bridge
      .runCell(bridge.openSession(), { code: 'import sys; sys.version.split()[0]', timeoutMs: settings.timeoutMs })
      .then(
        ({ value }) => ({ ok: true, detail: `Python ${String(value?.['text/plain']).replaceAll("'", '')}` }),
        (error: unknown) => ({ ok: false, detail: messageOf(error) }),
      )
    const used = await usedProvider(bridge)
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    if (!trial.ok) process.exitCode = 1
    const jail = await jailState(discovered.servers)
    const problems = catalog.servers().filter((server) => server.problem !== undefined)
    const unmatched = bridge.unmatchedRules()
    const remarks = [...settings.warnings, ...(used ? settingsWithoutEffect(process.env, used.provider) : [])]
    if (options.json)
      return printJson({
        version: VERSION,
        node: process.version,
        runtime: settings.runtime,
        providers,
        ...(used && { used }),
        trial,
        jail,
        problems,
        settings: remarks,
        permissions: unmatched,
      })

    print(`sandbridge ${VERSION}, Node ${process.version}, MCP_BRIDGE_RUNTIME=${settings.runtime}\n`)
    printTable(
      providers.map(({ name, usable, verdict }) => [
        usable ? { text: 'usable', style: 'green' } : { text: '–', style: 'dim' },
        name,
        verdict,
      ]),
    )
    print(`\n${trial.ok ? 'A cell runs' : 'No cell runs'}: ${trial.detail} (${seconds} s)`)
    if (used) print(`Sandbox: ${used.provider}.`)
    for (const { name, verdict } of used?.passedOver ?? []) print(`  skipped: ${name}, because ${verdict}`)
    for (const remark of remarks) print(`  setting: ${remark}`)
    for (const warning of unmatched) print(`  permissions: ${warning}`)
    print(serversText(catalog.servers()))
    print(jailText(jail))
    for (const note of untrustedNote(bridge)) print(note)
    if (discovered.skipped.length > 0) {
      print(`${count(discovered.skipped.length, 'entry', 'entries')} skipped: see \`sandbridge servers --sources\`.`)
    }
    for (const { name, problem } of problems) print(`  ${name}: ${shortReason(name, problem!)}`)
  })
}

interface JailState {
  usable: boolean
  verdict: string
  /** Names of the servers that run in one. */
  servers: string[]
}

async function jailState(definitions: readonly ServerDefinition[]): Promise<JailState> {
  const found = await findBubblewrapJail()
  const servers = definitions.filter((one) => describeJail(one) !== undefined).map(({ name }) => name)
  return typeof found === 'string'
    ? { usable: false, verdict: found, servers }
    : { usable: true, verdict: 'bubblewrap', servers }
}

function jailText({ usable, verdict, servers }: JailState): string {
  const which = servers.length > 0 ? `jailed: ${servers.join(', ')}` : 'none is jailed'
  return usable ? `Servers can be jailed with ${verdict}; ${which}.` : `Servers cannot be jailed: ${verdict}; ${which}.`
}

/** How many there are, and what is known of them: none has failed that was never asked. */
function serversText(servers: readonly ServerEntry[]): string {
  const failed = servers.filter(({ problem }) => problem !== undefined).length
  const unasked = servers.filter(({ problem, toolCount }) => problem === undefined && toolCount === undefined).length
  const parts = [`${count(servers.length, 'MCP server')} configured`]
  if (failed > 0) parts.push(`${failed} failed`)
  if (unasked > 0) parts.push(`${unasked} not asked yet`)
  return `${parts.join(', ')}: ${unasked > 0 ? 'ask with `sandbridge index`' : 'see `sandbridge servers`'}.`
}

/** The provider of the trial's sandbox, and those that `auto` did not take; missing when none was found. */
async function usedProvider(bridge: Bridge): Promise<{ provider: ProviderName; passedOver: PassedOver[] } | undefined> {
  try {
    const { provider, passedOver } = await bridge.findProvider(() => {})
    return { provider: provider.name, passedOver }
  } catch {
    // Why not is what the trial has said.
    return undefined
  }
}
