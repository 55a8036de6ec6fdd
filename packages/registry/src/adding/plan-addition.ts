// Converts a registry's description of a server to an entry of `mcpServers`: one command pinned to a version, or one
// URL. The publisher chooses names and values, but not programs, options of the package runner or placeholders;
// anything that could run or reach something else is refused. Pure.
import { isLoopbackUrl } from '@sandbridge/core/util/net'
import { isServerName, type ServerSandbox } from '@sandbridge/core/config/entries'
import type { FoundServer } from '../directory/registries.ts'
import { mcpbEntry } from '../mcpb/mcpb-manifest.ts'
import type { UnpackedPackage } from '../mcpb/mcpb-package.ts'
import { Inputs, literal, type NeededInput } from '../server/needed-inputs.ts'
import { lookalikeOf } from '../server/popular-packages.ts'
import { refused, STEERING } from '../server/refused.ts'
import type { ServerJson } from '../server/server-json.ts'

type Package = ServerJson['packages'][number]
type Remote = ServerJson['remotes'][number]
type Argument = Package['packageArguments'][number]

export type AdditionEntry =
  | {
      command: string
      args: string[]
      env: Record<string, string>
      cwd?: string
      description?: string
      sandbox?: ServerSandbox
    }
  | { type: 'http' | 'sse'; url: string; headers: Record<string, string>; description?: string }

export interface Addition {
  /** The name among the user's servers. */
  name: string
  found: FoundServer
  kind: string
  entry: AdditionEntry
  inputs: NeededInput[]
  /** Optional inputs that were left out. */
  optional: string[]
  /** Warnings for the user before they confirm, one sentence each. */
  warnings: string[]
  /** The folder that it was unpacked to, for an MCPB file. */
  folder?: string
}

interface PlanOptions {
  /** Missing means the last part of the registry's name. */
  name?: string | undefined
  /** `npm`, `pypi`, `oci`, `mcpb` or `remote`; missing means the first that the server lists. */
  as?: string | undefined
  /** Names or ids of optional inputs to ask for. */
  wanted?: readonly string[]
  /** `podman` or `docker`. */
  engine: string
  /** Its unpacked MCPB file; without it, an MCPB package is not used. */
  unpacked?: UnpackedPackage | undefined
}

/** @throws BridgeError SERVER_REFUSED with the problem of the description */
export function planAddition(found: FoundServer, options: PlanOptions): Addition {
  const { server } = found
  const name = additionName(server, options.name)
  const inputs = new Inputs(name, options.wanted ?? [])
  const { unpacked } = options
  const local = unpacked ? mcpbOf(found, options.as) : localPackage(server, options.as)
  const remote = options.as === undefined || options.as === 'remote' ? server.remotes[0] : undefined
  if (!local && !remote) {
    if (!mcpbOf(found, options.as)) throw nothingToAdd(server, options.as)
    throw refused('it is a file that is unpacked first', `Run \`sandbridge add ${server.name}\` in a terminal.`)
  }
  const description = server.description === undefined ? {} : { description: server.description }
  const entry =
    local && unpacked
      ? mcpbEntry(unpacked.manifest, inputs, unpacked)
      : local
        ? localEntry(local, inputs, options.engine)
        : remoteEntry(remote!, inputs)
  return {
    name,
    found,
    kind: local ? local.registryType : 'remote',
    entry: { ...entry, ...description },
    inputs: inputs.needed,
    optional: inputs.optional,
    warnings: warningsOf(found, local),
    ...(unpacked && { folder: unpacked.folder }),
  }
}

/**
 * The package that must be downloaded and unpacked before planning; undefined when a package runner or a URL is used.
 */
export function mcpbOf({ server }: FoundServer, as: string | undefined): Package | undefined {
  if (as !== undefined && as !== 'mcpb') return undefined
  if (as === undefined && (localPackage(server, as) || server.remotes.length > 0)) return undefined
  return server.packages.find(({ registryType, transport }) => registryType === 'mcpb' && transport.type === 'stdio')
}

/**
 * The name among the user's servers.
 * @throws BridgeError SERVER_REFUSED for one under which it could not be kept or read again
 */
export function additionName(server: ServerJson, given: string | undefined): string {
  const name = given ?? shortNameOf(server)
  if (name !== '__proto__' && isServerName(name)) return name
  throw refused('its name cannot be the name of an entry', 'Choose another name with --name.')
}

function shortNameOf({ name }: ServerJson): string {
  // `weather` for `io.github.owner/weather-mcp-server`.
  const last = name.slice(name.indexOf('/') + 1)
  const short = last.replace(/^(mcp[-_.]server|mcp)[-_.]/, '').replace(/[-_.](mcp[-_.]server|server[-_.]mcp|mcp)$/, '')
  return (short || last).replaceAll('.', '-')
}

function localPackage({ packages }: ServerJson, as: string | undefined): Package | undefined {
  return packages.find(
    ({ registryType }) => ['npm', 'pypi', 'oci'].includes(registryType) && (as ?? registryType) === registryType,
  )
}

/** Fills the known answers into an entry. */
export function withAnswers(entry: AdditionEntry, answers: ReadonlyMap<string, string>): AdditionEntry {
  const fill = (text: string): string =>
    text.replaceAll(/\$\{input:([\w.-]+)\}/g, (whole, id: string) => answers.get(id) ?? whole)
  const table = (texts: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, fill(text)]))
  return 'command' in entry
    ? { ...entry, args: entry.args.map(fill), env: table(entry.env) }
    : { ...entry, url: fill(entry.url), headers: table(entry.headers) }
}

function localEntry(pack: Package, inputs: Inputs, engine: string): AdditionEntry {
  if (pack.transport.type !== 'stdio') throw refused('its package does not speak MCP over stdio')
  const env = Object.fromEntries(
    pack.environmentVariables.flatMap((variable) => {
      if (!/^[A-Za-z_]\w*$/.test(variable.name)) throw refused('it has an invalid variable name')
      if (STEERING.test(variable.name))
        throw refused(`it sets ${variable.name}, a variable that changes how programs run`)
      const text = inputs.valueOf(variable)
      return text === undefined ? [] : [[variable.name, text]]
    }),
  )
  const args = pack.packageArguments.flatMap((argument) => words(argument, inputs))
  const { identifier } = pack
  switch (pack.registryType) {
    case 'npm': {
      if (!/^(@[a-z0-9-][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/.test(identifier)) throw badIdentifier()
      refuseRunnerOptions(pack, new Set(['-y', '--yes']))
      const version = exactVersion(pack, /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/)
      return { command: 'npx', args: ['-y', `${identifier}@${version}`, ...args], env }
    }
    case 'pypi': {
      if (!/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(identifier)) throw badIdentifier()
      refuseRunnerOptions(pack, new Set())
      const version = exactVersion(pack, /^\d[0-9A-Za-z.!+_-]*$/)
      return { command: 'uvx', args: [`${identifier}==${version}`, ...args], env }
    }
    default: {
      const image = imageOf(pack)
      refuseRunnerOptions(pack, new Set(['-i', '--interactive', '--rm', '-e', '--env']))
      // Variables that the description sets through options of the runner.
      const passed = pack.runtimeArguments.flatMap((argument) => {
        const [variable, ...rest] = (argument.value ?? '').split('=')
        if (!/^--?e(nv)?$/.test(argument.name ?? '') || !variable || rest.length === 0) return []
        if (!/^[A-Za-z_]\w*$/.test(variable) || STEERING.test(variable))
          throw refused('it has an invalid variable name')
        const text = inputs.valueOf({ ...argument, name: variable, value: rest.join('=') })
        return text === undefined ? [] : [[variable, text] as const]
      })
      const all = { ...Object.fromEntries(passed), ...env }
      const names = Object.keys(all).flatMap((variable) => ['-e', variable])
      return { command: engine, args: ['run', '-i', '--rm', ...names, image, ...args], env: all }
    }
  }
}

function remoteEntry({ type, url, headers, variables = {} }: Remote, inputs: Inputs): AdditionEntry {
  const address = inputs.template(url, variables)
  // A variable may stand for any part of a plain URL except the protocol.
  const probe = url.replaceAll(/\{[^{}]*\}/g, 'x')
  const whole = /^\{[^{}]*\}/.test(url) ? `https://${probe}` : probe
  const isSecure = URL.canParse(whole) && new URL(whole).protocol === 'https:'
  if (!isSecure && !isLoopbackUrl(whole)) throw refused('its address is not an https address')
  const filled = headers.flatMap((header) => {
    if (!/^[\w-]+$/.test(header.name)) throw refused('it has an invalid header name')
    const text = inputs.valueOf(header)
    return text === undefined ? [] : [[header.name, text]]
  })
  return {
    type: type === 'sse' ? 'sse' : 'http',
    url: address,
    headers: Object.fromEntries(filled) as Record<string, string>,
  }
}

/** The words that an argument adds to the command line; empty when it is optional and left out. */
function words(argument: Argument, inputs: Inputs): string[] {
  const { type, name, valueHint } = argument
  const text = inputs.valueOf({ ...argument, name: (type === 'named' ? name : valueHint) ?? 'argument' })
  if (type === 'positional') return text === undefined ? [] : [text]
  if (name === undefined) throw refused('it has an option without a name')
  if (text === undefined) return []
  return [literal(name), ...(text === '' ? [] : [text])]
}

function refuseRunnerOptions({ runtimeArguments, registryType }: Package, allowed: ReadonlySet<string>): void {
  for (const { type, name = '', value = '' } of runtimeArguments) {
    const word = type === 'named' ? name : value
    if (allowed.has(word)) continue
    throw refused(
      `it wants an option for what runs a package of the kind ${registryType}, which is not passed on: ${word.slice(0, 60)}`,
    )
  }
}

function exactVersion({ version = '' }: Package, form: RegExp): string {
  if (form.test(version)) return version
  throw refused(`it does not pin one version of its package: '${version.slice(0, 60)}'`)
}

function imageOf({ identifier, version }: Package): string {
  const match = /^([a-z0-9.-]+(?::\d+)?(?:\/[a-z0-9._-]+)+)(:[\w.-]{1,128})?(@sha256:[a-f0-9]{64})?$/.exec(identifier)
  if (!match) throw badIdentifier()
  const [
    ,
    repository = '',
    tag = version !== undefined && /^[\w.-]{1,128}$/.test(version) ? `:${version}` : '',
    digest = '',
  ] = match
  if (digest === '' && (tag === '' || tag === ':latest')) throw refused('it does not pin one version of its image')
  return `${repository}${tag}${digest}`
}

function warningsOf({ server, registry, verified, deprecated }: FoundServer, local: Package | undefined): string[] {
  const twin = local && lookalikeOf(local.registryType, local.identifier)
  return [
    ...(twin ? [`The package ${local.identifier} is not ${twin}, which its name resembles.`] : []),
    ...(verified ? [] : [`The publisher of ${server.name} has not been verified (${registry}).`]),
    ...(deprecated ? [`The registry says that ${server.name} is deprecated.`] : []),
  ]
}

function nothingToAdd({ packages, remotes }: ServerJson, as: string | undefined): Error {
  const kinds = [...new Set([...packages.map((one) => one.registryType), ...(remotes.length > 0 ? ['remote'] : [])])]
  const there = kinds.length > 0 ? `it comes as ${kinds.join(', ')}` : 'it names neither a package nor an address'
  return refused(as === undefined ? there : `it does not come as ${as}: ${there}`)
}

function badIdentifier(): Error {
  return refused('its package has an invalid name')
}
