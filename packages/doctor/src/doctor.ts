// `sandbridge doctor`: which providers work here, why others do not, whether a cell runs, and other problems.
import { writeFile } from 'node:fs/promises'
import { homedir, release } from 'node:os'
import type { OpenTenant } from '@sandbridge/core/bridge'
import type { KnownServer } from '@sandbridge/core/calls/catalog'
import { type PassedOver, probeEmbedded } from '@sandbridge/core/isolation/detect'
import { natives as nativesPart } from '@sandbridge/core/parts'
import type { ProviderName } from '@sandbridge/core/isolation'
import type { ServerDefinition } from '@sandbridge/core/config/entries'
import { describeServers } from '@sandbridge/shared/servers/describe-servers.ts'
import { otherClientFiles, otherClientsNote } from '@sandbridge/core/config'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import type { Settings } from '@sandbridge/core/config/settings'
import type { Finding } from '@sandbridge/core/serve/cli'
import { jailOf, type ServerJail } from '@sandbridge/shared/servers/server-jail.ts'
import { settingsWithoutEffect } from './without-effect.ts'
import { count } from '@sandbridge/core/util/text'
import { VERSION } from '@sandbridge/core/util'
import { features } from '@sandbridge/core/serve/cli/package.ts'
import { print, printJson, printTable } from '@sandbridge/core/serve/cli/terminal'
import { untrustedNote } from '@sandbridge/shared/servers/server-notes.ts'
import { withBridge } from '@sandbridge/shared/open-bridge.ts'
import { checkClock, checkFolders, checkSnapshot } from './check-folders.ts'
import { checkRules, checkSources, checkUnread } from './check-setup.ts'
import { checkPackages, packagesText } from './check-packages.ts'
import { checkSandbox, tryProvider } from './check-sandbox.ts'
import { checkServers, checkSignIns, failedServers } from './check-servers.ts'

interface DoctorOptions {
  json?: boolean
  /** Also run slow checks: the limits of the sandbox, and every server. */
  deep?: boolean
  fix?: boolean
  report?: string
}

/** Sets the exit code: 1 for warnings, 2 when something is broken. */
export async function doctor(options: DoctorOptions): Promise<void> {
  await withBridge(async (bridge) => {
    const { settings, catalog, discovered } = bridge
    const snapshot = await checkSnapshot(settings)
    // The user may have fixed what kept one from starting.
    const natives = await nativesPart.ifHere()
    natives?.forgetFailures(settings)
    const checkingServers = options.deep ? checkServers(bridge) : Promise.resolve([])
    // Run in parallel: most of the time is spent waiting for engines, sandboxes and servers.
    const [providers, { trial, walls }, servers] = await Promise.all([
      natives?.probeProviders(settings, (name) => tryProvider(name, settings)) ?? embedded(settings),
      tryCells(bridge, options.deep ? checkingServers : undefined),
      checkingServers,
    ])
    const used = await usedProvider(bridge)
    const packages = await checkPackages(bridge)
    const signIns = await checkSignIns(bridge)
    const findings = [...(await findingsOf(bridge, trial)), ...snapshot, ...walls, ...packages, ...signIns]
    // `--deep` has just asked each.
    findings.push(...(options.deep ? servers : failedServers(catalog.servers())))
    const fixed = options.fix ? await fixAll(findings) : []
    const open = findings.filter((finding) => !fixed.includes(finding))
    process.exitCode = exitCodeOf(open)
    const jails = await jailsOf(discovered.servers, settings)
    const problems = catalog.servers().filter((server) => server.problem !== undefined)
    const unmatched = bridge.rules.unmatched()
    const remarks = [...settings.warnings, ...(used ? settingsWithoutEffect(settings.setBy, used.provider) : [])]
    const told = open.map(({ fix: _fix, ...finding }) => finding)
    const about = {
      version: VERSION,
      node: process.version,
      runtime: settings.runtime,
      providers,
      ...(used && { used }),
      trial: { ok: trial.ok, detail: trial.detail },
      jails,
      problems,
      settings: remarks,
      packages: settings.packages,
      permissions: unmatched.map(({ message }) => message),
      sources: discovered.files.map(({ client, file, serverCount, trusted }) => ({
        client,
        file,
        serverCount,
        trusted,
      })),
      skipped: discovered.skipped,
      findings: told,
      fixed: fixed.map(({ message }) => message),
    }
    if (options.report !== undefined) await writeReport(options.report, about, bridge)
    if (options.json) return printJson(about)

    print(`sandbridge ${VERSION}, Node ${process.version}, MCP_BRIDGE_RUNTIME=${settings.runtime}\n`)
    printTable(
      providers.map(({ name, usable, verdict }) => [
        usable ? { text: 'usable', style: 'green' } : { text: '–', style: 'dim' },
        name,
        verdict,
      ]),
    )
    for (const { name, remarks: passedOver = [] } of providers)
      for (const one of passedOver) print(`  ${name} passed over: ${one}`)
    print(`\n${trial.ok ? 'A cell runs' : 'No cell runs'}: ${trial.detail} (${(trial.ms / 1000).toFixed(1)} s)`)
    if (used) print(`Sandbox: ${used.provider}${used.startMethod === undefined ? '' : `, ${used.startMethod}`}.`)
    if (used && used.passedOver.length > 0)
      print(`  skipped: ${used.passedOver.map(({ name }) => name).join(', ')}. The list above says why.`)
    const aboutPackages = packagesText(settings, trial.hasPandas)
    if (aboutPackages !== undefined) print(aboutPackages)
    for (const remark of remarks) print(`  setting: ${remark}`)
    for (const { verdict, message } of unmatched) if (verdict === 'allow') print(`  permissions: ${message}`)
    print(serversText(catalog.servers()))
    for (const text of jailTexts(jails)) print(text)
    for (const note of untrustedNote(bridge)) print(note)
    for (const note of otherClientsNote(otherClientFiles(discovered.servers))) print(note)
    const skippedCount = discovered.skipped.filter(({ kind }) => kind === undefined).length
    if (skippedCount > 0)
      print(`${count(skippedCount, 'entry', 'entries')} skipped: see \`sandbridge servers --sources\`.`)
    printFindings(open, fixed)
    if (options.report !== undefined) print(`\nReport: ${options.report}`)
  })
}

/** The version of Python, and whether there is pandas. */
const TRIAL = `import sys, importlib.util
f"{sys.version.split()[0]} {importlib.util.find_spec('pandas') is not None}"`

interface Trial {
  ok: boolean
  hasPandas?: boolean
  detail: string
  /** Duration, including the start of its sandbox. */
  ms: number
}

/** @param quiet resolves when other checks are done; missing when the limits of the sandbox are not checked */
async function tryCells(bridge: OpenTenant, quiet?: Promise<unknown>): Promise<{ trial: Trial; walls: Finding[] }> {
  const { cells, settings } = bridge
  const session = bridge.openSession()
  const startedAt = performance.now()
  const result = await cells.run(session, { code: TRIAL, timeoutMs: settings.timeoutMs }).then(
    ({ value }) => {
      const [version = '', pandas] = String(value?.['text/plain']).replaceAll("'", '').split(' ')
      return { ok: true, detail: `Python ${version}`, hasPandas: pandas === 'True' }
    },
    (error: unknown) => ({ ok: false, detail: messageOf(error) }),
  )
  const trial = { ...result, ms: performance.now() - startedAt }
  return { trial, walls: trial.ok && quiet ? await checkSandbox(bridge, session, quiet) : [] }
}

/** Checks that start nothing. */
async function findingsOf(bridge: OpenTenant, trial: Trial): Promise<Finding[]> {
  const { settings } = bridge
  const broken: Finding = { check: 'cell', level: 'broken', message: `No cell runs: ${trial.detail}` }
  const quick = await Promise.all([checkFolders(settings), checkClock()])
  return [
    ...(trial.ok ? [] : [broken]),
    ...quick.flat(),
    ...checkUnread(bridge),
    ...checkSources(bridge),
    ...checkRules(bridge),
    ...(await features.findings(bridge)),
  ]
}

/** @returns the findings that were fixed */
async function fixAll(findings: readonly Finding[]): Promise<Finding[]> {
  const fixed: Finding[] = []
  for (const finding of findings) {
    const isFixed = await finding.fix?.().then(
      () => true,
      () => false,
    )
    if (isFixed) fixed.push(finding)
  }
  return fixed
}

const LEVEL_STYLES = { ok: 'green', warning: 'yellow', broken: 'red' } as const

function printFindings(open: readonly Finding[], fixed: readonly Finding[]): void {
  // The summary above already says that no cell runs, and `openBridge` has told of unread files.
  const shown = open.filter(({ check }) => check !== 'cell' && check !== 'unread')
  if (shown.length + fixed.length > 0) print('')
  for (const { message } of fixed) print(`fixed: ${message}`)
  printTable(
    shown.map(({ level, message, advice }) => [
      { text: level, style: LEVEL_STYLES[level] },
      advice === undefined ? message : `${message} ${advice}`,
    ]),
  )
}

/** A report that may be shared: no secrets, no user name. @throws BridgeError STATE_UNWRITABLE */
async function writeReport(file: string, about: object, { discovered }: OpenTenant): Promise<void> {
  const report = {
    ...about,
    platform: `${process.platform} ${process.arch} ${release()}`,
    servers: describeServers(discovered.servers),
  }
  const text = JSON.stringify(report, null, 2).replaceAll(JSON.stringify(homedir()).slice(1, -1), '~')
  await writeFile(file, `${text}\n`, { mode: 0o600 }).catch((cause: unknown) => {
    throw new BridgeError('STATE_UNWRITABLE', `The report cannot be written to ${file}`, { cause })
  })
}

async function jailsOf(definitions: readonly ServerDefinition[], settings: Settings): Promise<ServerJail[]> {
  const jails: ServerJail[] = []
  for (const definition of definitions) {
    const jail = await jailOf(definition, settings)
    if (jail) jails.push(jail)
  }
  return jails
}

/** One line for each engine, and for each reason why none works. */
function jailTexts(jails: readonly ServerJail[]): string[] {
  const engines = new Set(jails.flatMap(({ engine }) => engine ?? []))
  const problems = new Set(jails.flatMap(({ problem }) => problem ?? []))
  const names = (isMeant: (jail: ServerJail) => boolean): string =>
    jails
      .filter(isMeant)
      .map(({ name }) => name)
      .join(', ')
  return [
    ...[...engines].map((one) => `Jailed with ${one}: ${names(({ engine }) => engine === one)}.`),
    ...[...problems].map(
      (one) => `These servers do not start: ${names(({ problem }) => problem === one)}. They cannot be jailed: ${one}.`,
    ),
  ]
}

/** The number of servers and their known failures: a server that was never listed has not failed. */
function serversText(servers: readonly KnownServer[]): string {
  const failed = servers.filter(({ problem }) => problem !== undefined).length
  const unasked = servers.filter(({ problem, toolCount }) => problem === undefined && toolCount === undefined).length
  const parts = [`${count(servers.length, 'MCP server')} configured`]
  if (failed > 0) parts.push(`${failed} failed`)
  if (unasked > 0) parts.push(`${unasked} not asked yet`)
  return `${parts.join(', ')}: ${unasked > 0 ? 'ask with `sandbridge index`' : 'see `sandbridge servers`'}.`
}

const embedded = async (settings: Settings) => [await probeEmbedded(settings, true)]

interface UsedProvider {
  provider: ProviderName
  startMethod?: string
  passedOver: PassedOver[]
}

/** The provider of the trial's sandbox, and those that `auto` rejected; missing when none was found. */
async function usedProvider(bridge: OpenTenant): Promise<UsedProvider | undefined> {
  try {
    const { provider, passedOver } = await bridge.findProvider()
    const { name, startMethod } = provider
    return { provider: name, ...(startMethod !== undefined && { startMethod }), passedOver }
  } catch {
    // The trial has reported the reason.
    return undefined
  }
}

/** 0 when all is well, 1 for warnings, 2 when something is broken. */
function exitCodeOf(findings: readonly Finding[]): number {
  if (findings.some(({ level }) => level === 'broken')) return 2
  return findings.some(({ level }) => level === 'warning') ? 1 : 0
}
