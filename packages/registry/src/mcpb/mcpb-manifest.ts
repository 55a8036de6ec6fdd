// Converts the manifest of an MCPB file (MANIFEST.md of modelcontextprotocol/mcpb, to 0.4) to an entry of `mcpServers`.
// Only the file's own code may run: its command must be in the file, or be one of the interpreters that the format
// names. Pure.
import path from 'node:path'
import * as z from 'zod'
import { oneLine } from '@sandbridge/core/util/text'
import { type Inputs, literal } from '../server/needed-inputs.ts'
import { refused, STEERING } from '../server/refused.ts'

const MAX_WORDS = 100
const text = z.string().max(4_000)

const commandFields = z.object({
  command: text.optional(),
  args: z.array(text).max(MAX_WORDS).optional(),
  env: z.record(z.string().max(200), text).optional(),
})

const plain = z.union([z.string().max(2_000), z.number(), z.boolean()])

const userConfig = z.object({
  title: z.unknown().optional(),
  description: z.unknown().optional(),
  required: z.boolean().catch(false).default(false),
  sensitive: z.boolean().catch(false).default(false),
  default: z.union([plain, z.array(plain).max(MAX_WORDS)]).optional(),
})

const manifestSchema = z.object({
  version: z.string().max(200),
  server: z.object({
    type: z.enum(['node', 'python', 'binary', 'uv']),
    entry_point: text,
    mcp_config: commandFields.extend({ platform_overrides: z.record(z.string(), commandFields).optional() }).optional(),
  }),
  compatibility: z
    .object({ platforms: z.array(z.string().max(50)).max(20).optional() })
    .optional()
    .catch(undefined),
  user_config: z.record(z.string().max(200), userConfig).default({}),
})

export type McpbManifest = z.infer<typeof manifestSchema>

/** @throws BridgeError SERVER_REFUSED with the problem */
export function parseManifest(value: unknown): McpbManifest {
  const parsed = manifestSchema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw refused(`the manifest of its file is not valid: ${issue?.path.join('.') || 'it'}: ${issue?.message ?? ''}`)
}

/** Where the unpacked file is, and whose machine it is on. */
export interface McpbPlace {
  folder: string
  home: string
  /** As in `process.platform`. */
  platform: string
}

/** @throws BridgeError SERVER_REFUSED with the problem */
export function mcpbEntry(manifest: McpbManifest, inputs: Inputs, place: McpbPlace) {
  const { server, compatibility, user_config: config } = manifest
  const { folder, platform } = place
  const platforms = compatibility?.platforms
  if (platforms !== undefined && !platforms.includes(platform))
    throw refused(`its file is for ${platforms.join(', ')}, and this is ${platform}`)
  const given = server.mcp_config ?? {}
  const own = given.platform_overrides?.[platform] ?? {}
  const values = new Values(config, inputs, place)
  const entryPoint = literal(inFolder(folder, server.entry_point))
  const args = own.args ?? given.args ?? (server.type === 'binary' ? [] : [`\${__dirname}/${server.entry_point}`])
  const env = Object.entries({ ...given.env, ...own.env }).flatMap(([name, value]): [string, string][] => {
    if (!/^[A-Za-z_]\w*$/.test(name)) throw refused('it has an invalid variable name')
    // A path variable may point into the file's own folder, and nowhere else.
    if (STEERING.test(name) && !(name.endsWith('PATH') && name !== 'PATH' && value.startsWith('${__dirname}/')))
      throw refused(`it sets ${name}, a variable that changes how programs run`)
    const filled = values.inVariable(value)
    return filled === undefined ? [] : [[name, filled]]
  })
  const command = commandOf(server.type, own.command ?? given.command, values, place)
  return {
    command,
    args: command === 'uv' ? ['run', '--directory', literal(folder), entryPoint] : values.inArguments(args),
    env: Object.fromEntries(env),
    // Relative paths in a manifest refer to its folder.
    cwd: literal(folder),
  }
}

/** @throws BridgeError SERVER_REFUSED for any other program */
function commandOf(
  type: McpbManifest['server']['type'],
  given: string | undefined,
  values: Values,
  { folder, platform }: McpbPlace,
): string {
  if (type === 'uv') return 'uv'
  if (type === 'node' && (given === undefined || given === 'node')) return 'node'
  // Debian has no `python`.
  if (type === 'python' && (given === undefined || /^python3?$/.test(given)))
    return platform === 'win32' ? 'python' : 'python3'
  const isOwn = given !== undefined && /^(\$\{__dirname\}|[\w.-]+)[\\/]/.test(given)
  if (isOwn) return literal(inFolder(folder, values.plain(given)))
  throw refused(`its file runs ${oneLine(given, 60) || 'nothing'}, which is not in it: only node and python are`)
}

/** @throws BridgeError SERVER_REFUSED for a path outside the folder */
function inFolder(folder: string, name: string): string {
  const file = path.resolve(folder, name)
  if (file.startsWith(folder + path.sep)) return file
  throw refused('its manifest names a file that is not in it')
}

/** Fills in `${…}` in a manifest. */
class Values {
  readonly #config: McpbManifest['user_config']
  readonly #inputs: Inputs
  readonly #known: ReadonlyMap<string, string>

  constructor(config: McpbManifest['user_config'], inputs: Inputs, { folder, home }: McpbPlace) {
    this.#config = config
    this.#inputs = inputs
    this.#known = new Map([
      ['__dirname', folder],
      ['HOME', home],
      ...['Desktop', 'Documents', 'Downloads'].map((name): [string, string] => [
        name.toUpperCase(),
        path.join(home, name),
      ]),
      ['pathSeparator', path.sep],
      ['/', path.sep],
    ])
  }

  /** Fills in everything except the user's answers. */
  plain(given: string): string {
    return given.replaceAll(/\$\{([^{}]*)\}/g, (whole, name: string) => this.#known.get(name) ?? whole)
  }

  /** Undefined when the value is left out. */
  inVariable(given: string): string | undefined {
    const filled = this.#fill(given, {})
    return filled && filled.join(path.delimiter)
  }

  inArguments(args: readonly string[]): string[] {
    // The value of an option cannot be left out: the option would take the next word.
    return args.flatMap(
      (arg, at) => this.#fill(arg, { isRequired: args[at - 1]?.startsWith('-') === true, onCommandLine: true }) ?? [],
    )
  }

  /** Returns several texts for a list of values that is the whole text. */
  #fill(given: string, how: { isRequired?: boolean; onCommandLine?: boolean }): string[] | undefined {
    const [, alone] = /^\$\{user_config\.([\w-]+)\}$/.exec(given) ?? []
    if (alone !== undefined) return this.#valueOf(alone, how)
    let end = 0
    let done = ''
    for (const match of given.matchAll(/\$\{([^{}]*)\}/g)) {
      const [whole, name = ''] = match
      const key = name.startsWith('user_config.') ? name.slice('user_config.'.length) : undefined
      const known = key === undefined ? this.#known.get(name) : undefined
      const filled = key === undefined ? literal(known ?? whole) : (this.#valueOf(key, how)?.join(path.delimiter) ?? '')
      done += literal(given.slice(end, match.index)) + filled
      end = match.index + whole.length
    }
    return [done + literal(given.slice(end))]
  }

  #valueOf(key: string, { isRequired = false, onCommandLine = false }): string[] | undefined {
    const about = Object.hasOwn(this.#config, key) ? this.#config[key] : undefined
    if (!about) throw refused(`its manifest uses a setting that it does not describe: ${oneLine(key, 60)}`)
    const { title, description, required, sensitive: isSecret } = about
    if (isSecret && onCommandLine)
      throw refused(`it puts the secret ${oneLine(key, 60)} on a command line, where other programs can read it`)
    const several = Array.isArray(about.default) ? about.default.map((one) => this.plain(String(one))) : undefined
    const fallback = several?.[0] ?? (about.default === undefined ? undefined : this.plain(String(about.default)))
    const value = this.#inputs.valueOf({
      name: key,
      description: [oneLine(title, 100), oneLine(description, 200)].filter(Boolean).join(': ') || undefined,
      isRequired: required || isRequired,
      isSecret,
      ...(fallback !== undefined && { default: fallback }),
    })
    if (value === undefined) return undefined
    // A default that is a list is used completely.
    return several !== undefined && value === literal(fallback ?? '') ? several.map(literal) : [value]
  }
}
