// Every setting of the bridge: the table of environment variables, read once into one typed, frozen object.
// Nothing else in the bridge reads MCP_BRIDGE_* variables. docs/configuration.md documents this table and a test compares the two.
import { homedir } from 'node:os'
import path from 'node:path'
import { BridgeError } from '../errors.ts'
import { PRESETS } from '../policy/presets.ts'
import { nearestName } from '../text/nearest-name.ts'
import { SOURCE_NAMES } from './readers/index.ts'
import type { Setting, SettingContext } from './setting-kinds.ts'
import {
  absolutePath,
  choice,
  flag,
  folder,
  list,
  optionalNumber,
  pattern,
  seconds,
  size,
  wholeNumber,
  wholeNumberAtLeast,
} from './setting-kinds.ts'

const DAY_S = 86_400

/** A host folder given to cells. */
interface Mount {
  path: string
  mode: 'ro' | 'rw'
}

const mount: Setting<Mount | undefined> = {
  variable: 'MCP_BRIDGE_MOUNT',
  meaning: 'A folder of this machine that cells can see, read-only unless it ends in `:rw`.',
  defaultText: 'none',
  allowed: 'an absolute path, optionally followed by :ro or :rw',
  whenMissing: () => undefined,
  parse: (text, { home }) => {
    const match = /^(.+?)(?::(ro|rw))?$/.exec(text)
    if (!match?.[1] || !/^([/~\\]|[A-Za-z]:[/\\])/.test(match[1])) return undefined
    return { path: absolutePath(match[1], home), mode: match[2] === 'rw' ? 'rw' : 'ro' }
  },
}

const embeddingsUrl: Setting<string | undefined> = {
  variable: 'MCP_BRIDGE_EMBEDDINGS_URL',
  meaning: 'An OpenAI-compatible `/v1/embeddings` endpoint that helps to rank tool searches.',
  defaultText: 'none',
  allowed: 'an http or https URL',
  whenMissing: () => undefined,
  parse: (text) => (/^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : '') ? text : undefined),
  secret: true,
}

const clientMetadataUrl: Setting<string | undefined> = {
  variable: 'MCP_BRIDGE_CLIENT_METADATA_URL',
  meaning: 'Where a document that describes this client is published, for sign-ins at servers that take one.',
  defaultText: 'none',
  allowed: 'an https address with a path, without a user name, a query or a fragment',
  whenMissing: () => undefined,
  parse: (text) => (isDocumentAddress(text) ? text : undefined),
}

/** What may be a client id, draft-ietf-oauth-client-id-metadata-document section 3. */
function isDocumentAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, pathname, username, password } = new URL(text)
  return protocol === 'https:' && pathname !== '/' && username === '' && password === '' && !/[?#]/.test(text)
}

const serversConfig: Setting<readonly string[]> = {
  variable: 'MCP_SERVERS_CONFIG',
  meaning: 'More files with `mcpServers` (JSON, TOML or YAML), several separated by `:` (`;` on Windows).',
  defaultText: 'none',
  allowed: 'paths',
  whenMissing: () => [],
  parse: (text, { home, platform }) =>
    text
      .split(platform === 'win32' ? ';' : ':')
      .filter((file) => file !== '')
      .map((file) => absolutePath(file, home)),
}

const RUNTIMES = ['auto', 'podman', 'docker', 'bubblewrap', 'pyodide'] as const
const runtimeByName = choice(
  { variable: 'MCP_BRIDGE_RUNTIME', meaning: 'What isolates Python. `auto` takes the first of them that works.' },
  RUNTIMES,
  'auto',
  { bwrap: 'bubblewrap' },
)

/** By name, or by the path of the program, whose name says which. */
const runtime: Setting<(typeof RUNTIMES)[number]> = {
  ...runtimeByName,
  parse: (text, context) => runtimeByName.parse(/[/\\]/.test(text) ? programName(text) : text, context),
  remark: (text) =>
    /[/\\]/.test(text)
      ? `MCP_BRIDGE_RUNTIME=${text} chooses ${programName(text)}, which is then found by PATH.`
      : undefined,
}

function programName(file: string): string {
  return (file.split(/[/\\]/).at(-1) ?? '').replace(/\.exe$/i, '')
}

/** All settings, by the name they have in {@link Settings}. */
export const SETTINGS = {
  runtime,
  timeoutMs: seconds(
    { variable: 'MCP_BRIDGE_TIMEOUT', meaning: 'How long a cell may run when its call names no timeout.' },
    { default: 30, min: 1, max: DAY_S },
  ),
  maxTimeoutMs: seconds(
    { variable: 'MCP_BRIDGE_MAX_TIMEOUT', meaning: 'The longest timeout that a call may ask for.' },
    { default: 120, min: 1, max: DAY_S },
  ),
  memoryBytes: size(
    {
      variable: 'MCP_BRIDGE_MEMORY',
      meaning: 'The most memory that one sandbox may use. The embedded sandbox needs 272m.',
    },
    { default: '512m', min: '64m' },
  ),
  stateDir: folder(
    { variable: 'MCP_BRIDGE_STATE_DIR', meaning: 'Your server definitions, and what the bridge keeps for you.' },
    '~/MCPs',
    ({ home }) => path.join(home, 'MCPs'),
  ),
  outputMode: choice(
    { variable: 'MCP_BRIDGE_OUTPUT_MODE', meaning: 'How the result of a cell is written for the model.' },
    ['compact', 'toon', 'json'],
    'compact',
  ),
  logLevel: choice(
    { variable: 'MCP_BRIDGE_LOG_LEVEL', meaning: 'The least serious message that is logged to stderr.' },
    ['debug', 'info', 'warning', 'error'],
    'info',
    { warn: 'warning', critical: 'error', fatal: 'error' },
  ),
  load: choice(
    {
      variable: 'MCP_BRIDGE_LOAD',
      meaning:
        'Whether a cell may use every server (`lazy`) or only those its call names (`explicit`), the others being listed by name and description.',
    },
    ['lazy', 'explicit'],
    'lazy',
  ),
  permissions: choice(
    {
      variable: 'MCP_BRIDGE_PERMISSIONS',
      meaning:
        'What happens to calls that no rule is for: all are made (`open`), those that may change something ask (`careful`) or are denied (`readonly`).',
    },
    PRESETS,
    'open',
  ),
  askTimeoutMs: seconds(
    { variable: 'MCP_BRIDGE_ASK_TIMEOUT', meaning: 'How long the user has to answer a question about a call.' },
    { default: 300, min: 5, max: 3600 },
  ),
  keychain: choice(
    {
      variable: 'MCP_BRIDGE_KEYCHAIN',
      meaning: 'Whether sign-ins are sealed with a key from the system’s keychain, where it has one.',
    },
    ['auto', 'off'],
    'auto',
  ),
  clientMetadataUrl,
  allowSelfServer: flag(
    {
      variable: 'MCP_BRIDGE_ALLOW_SELF_SERVER',
      meaning: 'Keep server definitions that would start this bridge again.',
    },
    false,
  ),
  poolCount: wholeNumber(
    { variable: 'MCP_BRIDGE_POOL', meaning: 'How many started sandboxes wait for a session.' },
    { default: 1, min: 0, max: 16 },
  ),
  runtimeIdleTimeoutMs: seconds(
    {
      variable: 'MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT',
      meaning: 'How long a session that nobody uses stays alive; 0 means until the bridge ends.',
    },
    { default: 300, min: 0, max: DAY_S },
  ),
  image: pattern(
    { variable: 'MCP_BRIDGE_IMAGE', meaning: 'The container image that holds Python.' },
    {
      allowed: 'an image name such as python:3.14-slim',
      matches: /^[a-z0-9][\w.\-/:@]*$/i,
      default: 'python:3.14-slim',
    },
  ),
  cpus: optionalNumber({ variable: 'MCP_BRIDGE_CPUS', meaning: 'How many CPUs a container may use.' }, 1024),
  containerUser: pattern(
    { variable: 'MCP_BRIDGE_CONTAINER_USER', meaning: 'The user and group inside a container.' },
    { allowed: 'user or user:group, such as 65534:65534', matches: /^\w[\w-]*(:\w[\w-]*)?$/, default: '65534:65534' },
  ),
  pidsCount: wholeNumberAtLeast(
    { variable: 'MCP_BRIDGE_PIDS', meaning: 'How many processes and threads a container may have.' },
    { default: 128, min: 16, max: 65_536 },
  ),
  ociRuntime: pattern(
    { variable: 'MCP_BRIDGE_OCI_RUNTIME', meaning: 'Another OCI runtime for the container engine, such as `runsc`.' },
    { allowed: 'the name or path of a runtime', matches: /^[\w/][\w./-]*$/, default: undefined },
  ),
  outputTokenCount: wholeNumber(
    { variable: 'MCP_BRIDGE_OUTPUT_TOKENS', meaning: 'About how many tokens the result of a cell may take.' },
    { default: 6000, min: 100, max: 1_000_000 },
  ),
  outputMemoryBytes: size(
    {
      variable: 'MCP_BRIDGE_OUTPUT_MEMORY',
      meaning:
        'How much output of cells the bridge keeps in memory, over all sessions; older output goes to the cache folder.',
    },
    { default: '128m', min: '1m' },
  ),
  learnTypes: flag(
    {
      variable: 'MCP_BRIDGE_LEARN_TYPES',
      meaning: 'Learn what tools return (types and keys, never values) where their schema does not say.',
    },
    true,
  ),
  embeddingsUrl,
  embeddingsModel: pattern(
    { variable: 'MCP_BRIDGE_EMBEDDINGS_MODEL', meaning: 'The model to ask that endpoint for.' },
    { allowed: 'the name of a model', matches: /^\S+$/, default: undefined },
  ),
  embeddingsKey: pattern(
    { variable: 'MCP_BRIDGE_EMBEDDINGS_KEY', meaning: 'The key that endpoint wants, as a bearer token.', secret: true },
    { allowed: 'a key without spaces', matches: /^[\x21-\x7e]+$/, default: undefined },
  ),
  upstreamIdleMs: seconds(
    {
      variable: 'MCP_BRIDGE_UPSTREAM_IDLE',
      meaning: 'How long a server that nobody calls stays running; 0 means until the bridge ends.',
    },
    { default: 0, min: 0, max: DAY_S },
  ),
  sources: list(
    {
      variable: 'MCP_BRIDGE_SOURCES',
      meaning: 'Where server definitions are read from: names of sources, `all`, or `-name` to leave one out.',
    },
    {
      allowed: `all, or names separated by commas, each with a - before it to leave it out: ${SOURCE_NAMES.join(', ')}`,
      separator: /[\s,]+/,
      matches: new RegExp(`^(all|-?(${SOURCE_NAMES.join('|')}))$`),
      defaultText: 'all',
    },
  ),
  session: choice(
    {
      variable: 'MCP_BRIDGE_SESSION',
      meaning: 'Whether cells share variables and files (`shared`) or each gets a sandbox of its own (`fresh`).',
    },
    ['shared', 'fresh'],
    'shared',
  ),
  compat: flag(
    {
      variable: 'MCP_BRIDGE_COMPAT',
      meaning: 'Give cells the forms of mcp-server-code-execution-mode where ours differ: see docs/migration.md.',
    },
    false,
  ),
  projects: flag(
    {
      variable: 'MCP_BRIDGE_PROJECTS',
      meaning: 'Whether cells have a folder `/projects` whose files are kept for you.',
    },
    true,
  ),
  checkpoint: flag(
    { variable: 'MCP_BRIDGE_CHECKPOINT', meaning: 'Carry variables that can be pickled over a forced restart.' },
    false,
  ),
  mount,
  packages: list(
    { variable: 'MCP_BRIDGE_PACKAGES', meaning: 'Python packages that cells can import.' },
    {
      allowed: 'requirements, wheel files or folders of them, separated by spaces, such as numpy pandas>=2',
      separator: /\s+/,
      // Never an option: the words end up on an installer's command line.
      matches: /^[^-\s]\S*$/,
    },
  ),
  httpToken: pattern(
    {
      variable: 'MCP_BRIDGE_HTTP_TOKEN',
      meaning: 'The bearer token that clients of `run --http` must send.',
      secret: true,
    },
    {
      allowed: 'at least 16 printable characters without spaces',
      matches: /^[\x21-\x7e]{16,}$/,
      default: undefined,
    },
  ),
  httpSessionCount: wholeNumber(
    { variable: 'MCP_BRIDGE_HTTP_SESSIONS', meaning: 'How many sessions `run --http` has open at once.' },
    { default: 16, min: 1, max: 1000 },
  ),
  cacheDir: folder(
    { variable: 'MCP_BRIDGE_CACHE_DIR', meaning: 'What can be made again at any time.' },
    'the cache folder of your system',
    standardCacheDir,
  ),
  serversConfig,
} as const

type Parsed<S> = S extends Setting<infer T> ? T : never

/** The settings of one bridge. Durations are in milliseconds (`…Ms`), sizes in bytes (`…Bytes`), paths absolute. */
export type Settings = {
  readonly [K in keyof typeof SETTINGS]: Parsed<(typeof SETTINGS)[K]>
} & {
  /** Things to tell the user that do not stop the bridge, such as a variable that looks mistyped. */
  readonly warnings: readonly string[]
}

/**
 * Read all settings. A variable that is missing or blank has its default; MCP_BRIDGE_TIMEOUT's never exceeds MCP_BRIDGE_MAX_TIMEOUT.
 * @throws BridgeError CONFIG_INVALID that names every variable with a bad value, the value, and what is allowed.
 */
export function readSettings(
  env: Record<string, string | undefined>,
  machine: { home?: string; platform?: NodeJS.Platform; isRoot?: boolean } = {},
): Settings {
  const context = {
    env,
    home: machine.home ?? homedir(),
    platform: machine.platform ?? process.platform,
    isRoot: machine.isRoot ?? process.getuid?.() === 0,
  }
  const problems: string[] = []
  const remarks: string[] = []
  // Every name of the table is set: the type follows from it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const values = Object.fromEntries(
    Object.entries(SETTINGS).map(([name, setting]) => [
      name,
      readOne(setting as Setting<unknown>, context, problems, remarks),
    ]),
  ) as Settings

  let { timeoutMs } = values
  if (timeoutMs > values.maxTimeoutMs) {
    if (hasText(env['MCP_BRIDGE_TIMEOUT'])) {
      const given = `MCP_BRIDGE_TIMEOUT=${timeoutMs / 1000} is more than MCP_BRIDGE_MAX_TIMEOUT`
      remarks.push(`${given}: ${values.maxTimeoutMs / 1000} is used.`)
    }
    timeoutMs = values.maxTimeoutMs
  }
  if (problems.length > 0) {
    throw new BridgeError('CONFIG_INVALID', problems.join('\n'), { hint: 'docs/configuration.md lists every setting.' })
  }
  return Object.freeze({ ...values, timeoutMs, warnings: [...remarks, ...unknownNames(env)] })
}

function readOne(setting: Setting<unknown>, context: SettingContext, problems: string[], remarks: string[]): unknown {
  const text = context.env[setting.variable]?.trim()
  if (!hasText(text)) return setting.whenMissing(context)
  const value = setting.parse(text, context)
  if (value !== undefined) {
    const remark = setting.remark?.(text, context)
    if (remark !== undefined) remarks.push(remark)
    return value
  }
  // A value that may hold a password is not repeated; a very long one only begins.
  const shown = setting.secret ? 'its value' : JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
  problems.push(`${setting.variable}: ${shown} is not allowed. Allowed: ${setting.allowed}.`)
  return setting.whenMissing(context)
}

function hasText(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== ''
}

function unknownNames(env: SettingContext['env']): string[] {
  const known = new Set<string>(Object.values(SETTINGS).map((setting) => setting.variable))
  return Object.keys(env)
    .filter((name) => name.startsWith('MCP_BRIDGE_') && !known.has(name))
    .map((name) => {
      const near = nearestName(name, known)
      return `${name} is not a setting and is ignored.${near === undefined ? '' : ` Did you mean ${near}?`}`
    })
}

function standardCacheDir({ env, home, platform, isRoot }: SettingContext): string {
  if (hasText(env['XDG_CACHE_HOME'])) return path.join(env['XDG_CACHE_HOME'], 'sandbridge')
  if (platform === 'darwin') return path.join(home, 'Library', 'Caches', 'sandbridge')
  if (platform === 'win32') return path.join(env['LOCALAPPDATA'] ?? path.join(home, 'AppData', 'Local'), 'sandbridge')
  // Root's sandboxes run as another user, who cannot look into root's home.
  return isRoot ? '/var/cache/sandbridge' : path.join(home, '.cache', 'sandbridge')
}
