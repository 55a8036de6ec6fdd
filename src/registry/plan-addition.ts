// Turns a registry's description of a server into an entry of `mcpServers`: one command, pinned to a version, or one address. Pure.
// The publisher chooses names and values, never programs, options of the package runner or placeholders: what could run or reach something else is refused.
import { BridgeError } from '../errors.ts'
import type { FoundServer } from './registries.ts'
import { lookalikeOf } from './popular-packages.ts'
import type { ServerJson } from './server-json.ts'

type Package = ServerJson['packages'][number]
type Remote = ServerJson['remotes'][number]
type Argument = Package['packageArguments'][number]
type KeyValue = Package['environmentVariables'][number]
type Variable = NonNullable<KeyValue['variables']>[string]

/** Something that the user fills in. */
export interface NeededInput {
  /** `${input:ID}` in the texts of the entry. */
  id: string
  /** What the publisher calls it. */
  name: string
  description?: string | undefined
  secret: boolean
  choices?: string[] | undefined
}

export type AdditionEntry =
  | { command: string; args: string[]; env: Record<string, string>; description?: string; sandbox?: object }
  | { type: 'http' | 'sse'; url: string; headers: Record<string, string>; description?: string }

export interface Addition {
  /** What the server is to be called among the user's. */
  name: string
  found: FoundServer
  kind: string
  entry: AdditionEntry
  inputs: NeededInput[]
  /** What may be left out, and was. */
  optional: string[]
  /** What the user should know before they say yes, a sentence each. */
  warnings: string[]
}

interface PlanOptions {
  /** Missing means the last part of the registry's name. */
  name?: string | undefined
  /** `npm`, `pypi`, `oci` or `remote`; missing means the first that the server lists. */
  as?: string | undefined
  /** Names or ids of optional inputs to ask for, too. */
  wanted?: readonly string[]
  /** `podman` or `docker`. */
  engine: string
}

/** @throws BridgeError SERVER_REFUSED that says what is wrong with the description */
export function planAddition(found: FoundServer, options: PlanOptions): Addition {
  const { server } = found
  const name = options.name ?? nameOf(server)
  const inputs = new Inputs(name, options.wanted ?? [])
  const local = server.packages.find(
    (one) => ['npm', 'pypi', 'oci'].includes(one.registryType) && (options.as ?? one.registryType) === one.registryType,
  )
  const remote = options.as === undefined || options.as === 'remote' ? server.remotes[0] : undefined
  if (!local && !remote) throw nothingToAdd(server, options.as)
  const description = server.description === undefined ? {} : { description: server.description }
  const entry = local ? localEntry(local, inputs, options.engine) : remoteEntry(remote!, inputs)
  return {
    name,
    found,
    kind: local ? local.registryType : 'remote',
    entry: { ...entry, ...description },
    inputs: inputs.needed,
    optional: inputs.optional,
    warnings: warningsOf(found, local),
  }
}

/** The same entry with what is known of its inputs in their place. */
export function withAnswers(entry: AdditionEntry, answers: ReadonlyMap<string, string>): AdditionEntry {
  const fill = (text: string): string =>
    text.replaceAll(/\$\{input:([\w.-]+)\}/g, (whole, id: string) => answers.get(id) ?? whole)
  const table = (texts: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, fill(text)]))
  return 'command' in entry
    ? { ...entry, args: entry.args.map(fill), env: table(entry.env) }
    : { ...entry, url: fill(entry.url), headers: table(entry.headers) }
}

/** A text that stands for itself: nothing in it is a placeholder. */
export function literal(text: string): string {
  return text.replaceAll('${', '${$}{')
}

function localEntry(pack: Package, inputs: Inputs, engine: string): AdditionEntry {
  if (pack.transport.type !== 'stdio') throw refused('its package does not speak MCP over stdio')
  const env = Object.fromEntries(
    pack.environmentVariables.flatMap((variable) => {
      if (!/^[A-Za-z_]\w*$/.test(variable.name)) throw refused('it names a variable that no process can have')
      if (STEERING.test(variable.name))
        throw refused(`it sets ${variable.name}, which steers programs and not a server`)
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
      // The variables that the description sets with options of the runner.
      const passed = pack.runtimeArguments.flatMap((argument) => {
        const [variable, ...rest] = (argument.value ?? '').split('=')
        if (!/^--?e(nv)?$/.test(argument.name ?? '') || !variable || rest.length === 0) return []
        if (!/^[A-Za-z_]\w*$/.test(variable) || STEERING.test(variable))
          throw refused('it names a variable that no process can have')
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
  // A variable may stand for any part but the protocol of a plain address.
  const probe = url.replaceAll(/\{[^{}]*\}/g, 'x')
  const whole = /^\{[^{}]*\}/.test(url) ? `https://${probe}` : probe
  if (!URL.canParse(whole) || new URL(whole).protocol !== 'https:') {
    if (!/^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/|$)/.test(whole))
      throw refused('its address is not an https address')
  }
  const filled = headers.flatMap((header) => {
    if (!/^[\w-]+$/.test(header.name)) throw refused('it names a header that no request can have')
    const text = inputs.valueOf(header)
    return text === undefined ? [] : [[header.name, text]]
  })
  return {
    type: type === 'sse' ? 'sse' : 'http',
    url: address,
    headers: Object.fromEntries(filled) as Record<string, string>,
  }
}

/** Variables by which a program loads other code, or is led elsewhere. */
const STEERING =
  /^(PATH|HOME|LD_.*|DYLD_.*|NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|PYTHON(PATH|STARTUP|HOME)|BASH_ENV|ENV|(npm_config|NPM_CONFIG|PIP|UV)_.*|.*_PROXY|.*_proxy|DOCKER_.*|CONTAINER_HOST|SSL_CERT_.*)$/

/** What an argument adds to the command line; nothing where it may be left out. */
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
  throw refused(`it does not name one version of its package: '${version.slice(0, 60)}'`)
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
  if (digest === '' && (tag === '' || tag === ':latest')) throw refused('it does not name one version of its image')
  return `${repository}${tag}${digest}`
}

/** Collects what the user is asked for, and puts `${input:ID}` where it belongs. */
class Inputs {
  readonly needed: NeededInput[] = []
  readonly optional: string[] = []
  readonly #server: string
  readonly #wanted: ReadonlySet<string>

  constructor(server: string, wanted: readonly string[]) {
    this.#server = server
    this.#wanted = new Set(wanted)
  }

  /** The text for a value; undefined for one that is left out. */
  valueOf({
    name,
    value,
    variables = {},
    ...given
  }: Omit<KeyValue, 'description'> & { description?: string | undefined }): string | undefined {
    if (value !== undefined) return this.template(value, variables)
    const isWanted = this.#wanted.has(name) || this.#wanted.has(this.#idOf(name))
    if (given.isRequired || isWanted) {
      // A default is what most people want; whoever wants another asks for it.
      if (given.default !== undefined && !given.isSecret && !isWanted) return literal(given.default)
      return this.#ask(name, given)
    }
    if (given.default !== undefined && !given.isSecret) return literal(given.default)
    this.optional.push(name)
    return undefined
  }

  /** A fixed text with `{name}` where a variable belongs. */
  template(text: string, variables: Record<string, Variable>): string {
    let done = ''
    let end = 0
    for (const match of text.matchAll(/\{([\w.-]+)\}/g)) {
      const [whole, name = ''] = match
      const variable = Object.hasOwn(variables, name) ? variables[name] : undefined
      if (!variable) continue
      done += literal(text.slice(end, match.index))
      done +=
        variable.value === undefined && (variable.default === undefined || variable.isSecret)
          ? this.#ask(name, variable)
          : literal(variable.value ?? variable.default ?? '')
      end = match.index + whole.length
    }
    return done + literal(text.slice(end))
  }

  #ask(
    name: string,
    {
      description,
      isSecret,
      choices,
    }: { description?: string | undefined; isSecret: boolean; choices?: string[] | undefined },
  ): string {
    const id = this.#idOf(name)
    if (!this.needed.some((input) => input.id === id)) {
      this.needed.push({ id, name, description, secret: isSecret, ...(choices?.length && { choices }) })
    }
    return `\${input:${id}}`
  }

  #idOf(name: string): string {
    return `${this.#server}_${name.replace(/^-+/, '')}`.replaceAll(/\W+/g, '_')
  }
}

function warningsOf({ server, registry, verified, deprecated }: FoundServer, local: Package | undefined): string[] {
  const twin = local && lookalikeOf(local.registryType, local.identifier)
  return [
    ...(twin ? [`The package ${local.identifier} is not ${twin}, which its name resembles.`] : []),
    ...(verified ? [] : [`Nobody has checked who published ${server.name} (${registry}).`]),
    ...(deprecated ? [`The registry says that ${server.name} is deprecated.`] : []),
  ]
}

/** `weather` of `io.github.owner/weather-mcp-server`. */
function nameOf({ name }: ServerJson): string {
  const last = name.slice(name.indexOf('/') + 1)
  const short = last.replace(/^(mcp[-_.]server|mcp)[-_.]/, '').replace(/[-_.](mcp[-_.]server|server[-_.]mcp|mcp)$/, '')
  return (short || last).replaceAll('.', '-')
}

function nothingToAdd({ packages, remotes }: ServerJson, as: string | undefined): BridgeError {
  const kinds = [...new Set([...packages.map((one) => one.registryType), ...(remotes.length > 0 ? ['remote'] : [])])]
  const there = kinds.length > 0 ? `it comes as ${kinds.join(', ')}` : 'it names neither a package nor an address'
  return refused(as === undefined ? there : `it does not come as ${as}: ${there}`)
}

function badIdentifier(): BridgeError {
  return refused('its package has a name that no package can have')
}

function refused(reason: string): BridgeError {
  return new BridgeError('SERVER_REFUSED', `This server cannot be added: ${reason}`, {
    hint: 'Tell its publisher, or define the server yourself in a file in ~/MCPs.',
  })
}
