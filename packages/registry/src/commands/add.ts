// `sandbridge add`, `remove`, `update`: shows what would run, starts the server once, shows its tools, then saves it.
import { processContext } from '@sandbridge/core/config/settings'
import { readFile } from 'node:fs/promises'
import type { OpenTenant } from '@sandbridge/core/bridge'
import { inputVariable } from '@sandbridge/core/config/entries'
import { describeJail } from '@sandbridge/shared/servers/describe-servers.ts'
import { wholeCommandLine } from '@sandbridge/core/config/secrets'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import { engineName, inJail, jailed } from '../adding/add-server.ts'
import { openRegistries } from '../open-registries.ts'
import { AddedServers, toolHashes } from '../adding/added-servers.ts'
import { type UnpackedPackage, unpackMcpb } from '../mcpb/mcpb-package.ts'
import { type Addition, additionName, mcpbOf, planAddition } from '../adding/plan-addition.ts'
import { definitionOf, tryServer, toolChanges } from '../adding/quarantine.ts'
import type { FoundServer, Registries } from '../directory/registries.ts'
import { readDocument, serverFromDocument } from '../server/server-document.ts'
import { decodeText } from '@sandbridge/core/util/bytes'
import { count, firstSentence } from '@sandbridge/core/util/text'
import { parseJson } from '@sandbridge/core/util/json/json.ts'
import type { UpstreamTool } from '@sandbridge/core/upstream'
import { CLIENT_INFO } from '@sandbridge/core/util'
import { print, printTable, visibleInline } from '@sandbridge/core/serve/cli/terminal'
import { askInTerminal } from '@sandbridge/shared/terminal/ask-in-terminal.ts'
import { confirm } from '@sandbridge/shared/terminal/confirm.ts'
import { ProgressBar } from '@sandbridge/shared/terminal/progress-bar.ts'
import { withBridge } from '@sandbridge/shared/open-bridge.ts'
import { withOpenedPlaces } from './open-places.ts'

interface AddOptions {
  from?: string
  name?: string
  as?: string
  with?: string[]
  yes?: boolean
  dryRun?: boolean
  /** False with --no-jail. */
  jail?: boolean
}

/** @throws BridgeError SERVER_REFUSED, REGISTRY_UNREADABLE, and the error of the server's start */
export async function add(name: string | undefined, options: AddOptions): Promise<void> {
  await withBridge(async (bridge) => {
    const found = await findServer(name, options.from, openRegistries(bridge.settings, bridge.log))
    const own = additionName(found.server, options.name)
    refuseTaken(own, bridge)
    const store = new AddedServers(bridge.settings.stateDir)
    const plan = { name: own, as: options.as, wanted: options.with ?? [], engine: await engineName() }
    await withPackage(found, plan, store, async (unpacked) => {
      const planned = planAddition(found, { ...plan, unpacked })
      const addition = options.jail === false ? planned : await jailed(planned, bridge.settings)
      showAddition(addition)
      if (options.dryRun) return false
      if (!(await agreed(options, 'Start it once, to see its tools? [y/N] '))) return notAdded()
      const answers = await askFor(addition)
      const opened = await withOpenedPlaces(addition, { answers, given: answers, yes: options.yes }, bridge)
      const tools = await started(opened, answers, bridge)
      showTools(tools)
      if (!(await agreed(options, `Add it as ${addition.name}? [y/N] `))) return notAdded()
      await store.save(opened, { answers, tools })
      print(`Added ${addition.name} to ${store.file}. Running bridges use it from their next cell on.`)
      return true
    })
  })
}

function notAdded(): false {
  print('Nothing was added.')
  return false
}

/** Downloads and unpacks the package first if needed, and removes it again unless `work` has kept it. */
async function withPackage(
  found: FoundServer,
  { name, as }: { name: string; as: string | undefined },
  store: AddedServers,
  work: (unpacked: UnpackedPackage | undefined) => Promise<boolean>,
): Promise<void> {
  const pack = mcpbOf(found, as)
  if (!pack) return void (await work(undefined))
  const bar = new ProgressBar(process.stderr, process.env)
  bar.waitFor(`fetching ${visibleInline(pack.identifier)}`)
  const place = { parent: store.unpackedOf(name), env: process.env }
  const unpacked = await unpackMcpb(pack, place).finally(() => bar.clear())
  let isKept = false
  try {
    isKept = await work(unpacked)
  } finally {
    if (!isKept) await store.discard(unpacked.folder)
  }
}

export async function remove(name: string, options: { yes?: boolean }): Promise<void> {
  await withBridge(async ({ settings }) => {
    const store = new AddedServers(settings.stateDir)
    const { server, version } = await store.get(name)
    if (!(await agreed(options, `Remove ${name} (${server} ${version}) and the secrets kept for it? [y/N] `))) return
    await store.remove(name)
    print(`Removed ${name}.`)
  })
}

/** Looks for newer versions of added servers, shows the changes, and asks. */
export async function update(name: string | undefined, options: { yes?: boolean; dryRun?: boolean }): Promise<void> {
  await withBridge(async (bridge) => {
    const store = new AddedServers(bridge.settings.stateDir)
    const all = name === undefined ? await store.list() : { [name]: await store.get(name) }
    const registries = openRegistries(bridge.settings, bridge.log)
    for (const [own, before] of Object.entries(all)) {
      const found = await registries.get(before.server)
      if (found.server.version === before.version) {
        print(`${own}: ${before.version} is the newest version.`)
        continue
      }
      const wanted = Object.keys(before.answers)
      const plan = { name: own, as: before.kind, wanted, engine: await engineName() }
      await withPackage(found, plan, store, async (unpacked) => {
        const planned = planAddition(found, { ...plan, unpacked })
        const { transport } = bridge.discovered.found.find((one) => one.name === own)?.definition ?? {}
        const sandbox = transport?.type === 'stdio' ? transport.sandbox : undefined
        const addition = sandbox ? inJail(planned, sandbox) : planned
        print(`${own}: ${before.version} → ${found.server.version}`)
        showAddition(addition)
        if (options.dryRun) return false
        if (!(await agreed(options, 'Start the new version once, to see its tools? [y/N] '))) return false
        const answers = await askFor({ ...addition, inputs: addition.inputs.filter(({ id }) => !wanted.includes(id)) })
        const texts = new Map([...(await store.texts(own)), ...answers])
        const opened = await withOpenedPlaces(addition, { answers: texts, given: answers, yes: options.yes }, bridge)
        const tools = await started(opened, texts, bridge)
        const changes = toolChanges(before.tools, toolHashes(tools))
        print(changes.length === 0 ? 'Its tools have not changed.' : 'Its tools have changed (+ new, - gone, ~ other):')
        for (const line of changes) print(`  ${visibleInline(line)}`)
        if (!(await agreed(options, `Use version ${found.server.version}? [y/N] `))) return false
        await store.save(opened, { answers, kept: before.answers, tools })
        print(`Updated ${own}.`)
        return true
      })
    }
    if (Object.keys(all).length === 0) print('No server was added from a registry.')
  })
}

async function findServer(
  name: string | undefined,
  from: string | undefined,
  registries: Registries,
): Promise<FoundServer> {
  if ((name === undefined) === (from === undefined)) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'Pass the name of a server, or --from with an address or a file', {
      hint: 'For example: sandbridge add io.github.owner/name',
    })
  }
  if (from === undefined) {
    const bar = new ProgressBar(process.stderr, process.env)
    const onProgress = (servers: number): void =>
      bar.listeners.onPreparing(`reading the registry: ${count(servers, 'server')}`)
    return registries.get(name!, { onProgress }).finally(() => bar.clear())
  }
  if (/^https?:\/\//.test(from)) return readDocument(from, process.env)
  const bytes = await readFile(from).catch((cause: unknown) => {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `The file '${from}' cannot be read: ${messageOf(cause)}`, {
      hint: '',
    })
  })
  return serverFromDocument(parseJson(decodeText(bytes, false)), from)
}

function refuseTaken(name: string, { discovered }: OpenTenant): void {
  const other = discovered.found.find((one) => one.name === name)
  if (!other) return
  throw new BridgeError('SERVER_REFUSED', `There is a server '${name}' already: ${other.definition.source.file}`, {
    hint: 'Give the new server another name with --name.',
  })
}

function showAddition(addition: Addition): void {
  const { found, inputs, optional, warnings } = addition
  const { server, registry } = found
  print(`${server.name} ${server.version}, from ${visibleInline(registry)}`)
  if (server.description) print(`  its publisher says: ${server.description}`)
  print(`  runs: ${wholeCommandLine(definitionOf(addition).transport)}`)
  const { entry } = addition
  const names = Object.keys('command' in entry ? entry.env : entry.headers)
  if (addition.folder !== undefined) print(`  unpacked to: ${addition.folder}`)
  if ('command' in entry && entry.sandbox) print(`  in a jail: ${describeJail(definitionOf(addition))}`)
  if (names.length > 0) print(`  sets: ${names.join(' ')}`)
  for (const { name, description, secret } of inputs)
    print(`  asks for: ${name}${secret ? ' (secret)' : ''}${description ? `: ${description}` : ''}`)
  if (optional.length > 0) print(`  could also be given, with --with NAME: ${optional.map(visibleInline).join(' ')}`)
  for (const warning of warnings) print(`  Note: ${warning}`)
}

/** Answers from the environment or, at a terminal, from the user. A missing one is asked for when the server starts. */
async function askFor({ name, inputs }: Addition): Promise<Map<string, string>> {
  const ask = askInTerminal()
  const answers = new Map<string, string>()
  for (const { id, name: what, description, secret, choices } of inputs) {
    const input = {
      id,
      type: choices ? ('pickString' as const) : ('promptString' as const),
      description: description ? `${what}: ${description}` : what,
      ...(secret && { password: true as const }),
      ...(choices && { options: choices }),
    }
    const answer = process.env[inputVariable(id)] ?? (await ask?.(name, input))
    if (answer) answers.set(id, answer)
  }
  return answers
}

async function started(
  addition: Addition,
  answers: ReadonlyMap<string, string>,
  { log, set }: OpenTenant,
): Promise<UpstreamTool[]> {
  const jail = set.connected.jailPlace
  const bar = new ProgressBar(process.stderr, process.env)
  bar.waitFor(`starting ${addition.name}`)
  return tryServer(addition, { clientInfo: CLIENT_INFO, log, context: processContext(), jail, answers }).finally(() =>
    bar.clear(),
  )
}

function showTools(tools: readonly UpstreamTool[]): void {
  print(`It offers ${count(tools.length, 'tool')}:`)
  printTable(tools.map(({ name, description }) => [`  ${name}`, firstSentence(description, 100)]))
}

async function agreed({ yes = false }: { yes?: boolean }, question: string): Promise<boolean> {
  return yes || confirm(question)
}
