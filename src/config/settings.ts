// Every setting of the bridge: the table of environment variables, read once into one typed, frozen object.
// Nothing else in the bridge reads MCP_BRIDGE_* variables. docs/configuration.md documents this table and a test compares the two.
import { isIPv4, isIPv6 } from 'node:net'
import { homedir } from 'node:os'
import path from 'node:path'
import { BridgeError } from '../errors.ts'
import { PRESETS } from '../policy/presets.ts'
import type { OtherLanguage } from '../protocol/frames.ts'
import { nearestName } from '../text/did-you-mean.ts'
import { isLoopback } from '../text/loopback.ts'
import { SOURCE_NAMES } from './readers/index.ts'
import { IMAGE_NAME } from './server-definition.ts'
import { standardCacheDir } from './cache-folder.ts'
import type { Setting, SettingContext } from './setting-kinds.ts'
import {
  absolutePath,
  choice,
  flag,
  folder,
  list,
  optionalNumber,
  optionalWholeNumber,
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
  meaning: 'A host folder that cells can read. With `:rw` at the end they can write to it.',
  defaultText: 'none',
  allowed: 'an absolute path, optionally followed by :ro or :rw',
  whenMissing: () => undefined,
  parse: (text, { home }) => {
    const match = /^(.+?)(?::(ro|rw))?$/.exec(text)
    if (!match?.[1] || !/^([/~\\]|[A-Za-z]:[/\\])/.test(match[1])) return undefined
    return { path: absolutePath(match[1], home), mode: match[2] === 'rw' ? 'rw' : 'ro' }
  },
}

/** An absolute path is one; whatever else begins like a path cannot be the name of an image. */
const image: Setting<string | undefined> = {
  variable: 'MCP_BRIDGE_IMAGE',
  meaning:
    'The image for cells, with Python. Bubblewrap uses one only if this is set, and takes a folder or an archive as well.',
  defaultText: 'python:3.14-slim for containers',
  allowed: 'an image name such as python:3.14-slim, or an absolute path',
  whenMissing: () => undefined,
  parse: (text, { home }) => {
    if (/^([/~\\]|[A-Za-z]:[/\\])/.test(text)) return absolutePath(text, home)
    return IMAGE_NAME.test(text) ? text : undefined
  },
}

const embeddingsUrl: Setting<string | undefined> = {
  variable: 'MCP_BRIDGE_EMBEDDINGS_URL',
  meaning: 'An OpenAI-compatible `/v1/embeddings` endpoint that improves the ranking of tool searches.',
  defaultText: 'none',
  allowed: 'an http or https URL',
  whenMissing: () => undefined,
  parse: (text) => (/^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : '') ? text : undefined),
  secret: true,
}

const clientMetadataUrl: Setting<string | undefined> = {
  variable: 'MCP_BRIDGE_CLIENT_METADATA_URL',
  meaning: 'The URL of a published OAuth client metadata document, for servers that support them.',
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

const TOKEN_FORM = /^[\x21-\x7e]{16,}$/
const TOKEN_WORDS = 'at least 16 printable characters without spaces'

const metrics: Setting<{ host: string; port: number } | undefined> = {
  variable: 'MCP_BRIDGE_METRICS',
  meaning:
    'Where Prometheus can read metrics of this bridge. Needs `MCP_BRIDGE_METRICS_TOKEN` where other machines can reach it.',
  defaultText: 'none',
  allowed: 'an address with a port, such as 127.0.0.1:9464, 0.0.0.0:9464 or [::1]:9464',
  whenMissing: () => undefined,
  parse: (text) => {
    const [, inBrackets, plain, port] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? []
    const host = inBrackets ?? plain ?? ''
    const isHost = inBrackets === undefined ? isIPv4(host) || host === 'localhost' : isIPv6(host)
    return isHost && Number(port) <= 65_535 ? { host, port: Number(port) } : undefined
  },
}

const upstreamIdleMs: Setting<number> = {
  ...seconds(
    {
      variable: 'MCP_BRIDGE_UPSTREAM_IDLE',
      meaning: 'The idle timeout of a server; 0 disables it.',
    },
    { default: 0, min: 0, max: DAY_S },
  ),
  defaultText: '0; 600 with `MCP_BRIDGE_UPSTREAMS=pods`',
  whenMissing: ({ env }) => (env['MCP_BRIDGE_UPSTREAMS']?.trim().toLowerCase() === 'pods' ? 600_000 : 0),
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

const publicUrl: Setting<string | undefined> = {
  variable: 'MCP_BRIDGE_PUBLIC_URL',
  meaning: 'The address at which clients reach `run --http`, where it is not the one it listens on.',
  defaultText: 'the address it listens on',
  allowed:
    'an http or https address without a user name, a query or a fragment, such as https://bridge.example.com/mcp',
  whenMissing: () => undefined,
  parse: (text) => (isPlainHttpAddress(text) && !text.includes('@') ? text : undefined),
}

const oauthIssuers: Setting<readonly string[]> = {
  variable: 'MCP_BRIDGE_OAUTH_ISSUER',
  meaning: 'Authorization servers whose access tokens `run --http` accepts, each exactly as its metadata names it.',
  defaultText: 'none',
  allowed: 'https addresses separated by spaces, such as https://login.example.com; http for this machine only',
  whenMissing: () => [],
  parse: (text) => {
    const issuers = text.split(/\s+/)
    return issuers.every(isIssuer) ? [...new Set(issuers)] : undefined
  },
}

/** RFC 8414, section 2. Without TLS, anyone on the way could publish keys. */
function isIssuer(text: string): boolean {
  if (!isPlainHttpAddress(text) || /[@"\\]/.test(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

/** The only registry whose names are known to be their owners'. */
export const OFFICIAL_REGISTRY = 'https://registry.modelcontextprotocol.io'

const registries: Setting<readonly string[]> = {
  variable: 'MCP_BRIDGE_REGISTRIES',
  meaning: 'MCP registries that `find` and `add` search, in this order; `off` for none.',
  defaultText: 'the official registry',
  allowed: 'off, or http and https addresses separated by spaces',
  whenMissing: () => [OFFICIAL_REGISTRY],
  parse: (text) => {
    if (text.toLowerCase() === 'off') return []
    const addresses = text.split(/\s+/).map((address) => address.replace(/\/+$/, ''))
    return addresses.every(isPlainHttpAddress) ? [...new Set(addresses)] : undefined
  },
  secret: true,
}

function isPlainHttpAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && !/[?#]/.test(text)
}

export type { OtherLanguage } from '../protocol/frames.ts'

/** What cells can be written in besides Python. */
const OTHER_LANGUAGES: readonly OtherLanguage[] = ['bash', 'javascript']

const languages: Setting<readonly OtherLanguage[]> = {
  variable: 'MCP_BRIDGE_LANGUAGES',
  meaning: 'Languages of cells. Each besides Python adds a tool, such as `run_bash`.',
  defaultText: 'python',
  allowed: 'names separated by commas: python, bash, javascript',
  whenMissing: () => [],
  parse: (text) => {
    const words = text
      .toLowerCase()
      .split(/[\s,]+/)
      .filter((word) => word !== '' && word !== 'python')
    return words.every((word) => OTHER_LANGUAGES.some((one) => one === word))
      ? OTHER_LANGUAGES.filter((one) => words.includes(one))
      : undefined
  },
}

const RUNTIMES = ['auto', 'podman', 'docker', 'bubblewrap', 'pyodide', 'kubernetes'] as const
const runtimeByName = choice(
  { variable: 'MCP_BRIDGE_RUNTIME', meaning: 'The sandbox that isolates Python. `auto` uses the first that works.' },
  RUNTIMES,
  'auto',
  { bwrap: 'bubblewrap', k8s: 'kubernetes' },
)

/** By name, or by the path of the program, whose name says which. */
const runtime: Setting<(typeof RUNTIMES)[number]> = {
  ...runtimeByName,
  parse: (text, context) => runtimeByName.parse(/[/\\]/.test(text) ? programName(text) : text, context),
  remark: (text) =>
    /[/\\]/.test(text) ? `MCP_BRIDGE_RUNTIME=${text} selects ${programName(text)}, found through PATH.` : undefined,
}

function programName(file: string): string {
  return (file.split(/[/\\]/).at(-1) ?? '').replace(/\.exe$/i, '')
}

export const MASK_KINDS = ['email', 'phone', 'card', 'iban', 'ip', 'secret'] as const
export type MaskKind = (typeof MASK_KINDS)[number]

const mask: Setting<readonly MaskKind[]> = {
  variable: 'MCP_BRIDGE_MASK',
  meaning: 'Kinds of personal data that the model gets as tokens such as `[EMAIL_1]`, and never as they are.',
  defaultText: 'none',
  allowed: `all, or names separated by commas: ${MASK_KINDS.join(', ')}`,
  whenMissing: () => [],
  parse: (text) => {
    const words = text
      .toLowerCase()
      .split(/[\s,]+/)
      .filter((word) => word !== '')
    if (words.length === 1 && words[0] === 'all') return MASK_KINDS
    return words.every((word) => MASK_KINDS.some((kind) => kind === word))
      ? MASK_KINDS.filter((kind) => words.includes(kind))
      : undefined
  },
}

const maskEndpoint: Setting<string | undefined> = {
  variable: 'MCP_BRIDGE_MASK_ENDPOINT',
  meaning: 'An endpoint in the form of Presidio Analyzer that finds names, which the model then gets as `[PERSON_1]`.',
  defaultText: 'none',
  allowed: 'an http or https URL',
  whenMissing: () => undefined,
  parse: (text) => (/^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : '') ? text : undefined),
  secret: true,
}

const storage: Setting<string | undefined> = {
  variable: 'MCP_BRIDGE_STORAGE',
  meaning:
    'A PostgreSQL database that keeps artifacts, saved functions, memories, tokens, sign-ins, schedules and the record in place of the state folder, for several bridges at once.',
  defaultText: 'none',
  allowed: 'a connection URL such as postgres://sandbridge:PASSWORD@db.example.com/sandbridge',
  whenMissing: () => undefined,
  // A server on a socket has no host: postgres://ann:PASSWORD@/sandbridge?host=/run/postgresql
  parse: (text) =>
    /^postgres(ql)?:\/\/\S+$/.test(text) && URL.canParse(text.replace('@/', '@socket/')) ? text : undefined,
  secret: true,
}

/** All settings, by the name they have in {@link Settings}. */
export const SETTINGS = {
  runtime,
  timeoutMs: seconds(
    { variable: 'MCP_BRIDGE_TIMEOUT', meaning: 'The timeout of a cell whose call sets none.' },
    { default: 30, min: 1, max: DAY_S },
  ),
  maxTimeoutMs: seconds(
    { variable: 'MCP_BRIDGE_MAX_TIMEOUT', meaning: 'The longest timeout that a call may set.' },
    { default: 120, min: 1, max: DAY_S },
  ),
  memoryBytes: size(
    {
      variable: 'MCP_BRIDGE_MEMORY',
      meaning: 'The memory limit of one sandbox. The embedded sandbox needs 272m.',
    },
    { default: '512m', min: '64m' },
  ),
  stateDir: folder(
    {
      variable: 'MCP_BRIDGE_STATE_DIR',
      meaning: 'The folder for your server entries, artifacts, saved functions and projects.',
    },
    '~/MCPs',
    ({ home }) => path.join(home, 'MCPs'),
  ),
  outputMode: choice(
    { variable: 'MCP_BRIDGE_OUTPUT_MODE', meaning: 'The format of a cell’s result.' },
    ['compact', 'toon', 'json'],
    'compact',
  ),
  logLevel: choice(
    { variable: 'MCP_BRIDGE_LOG_LEVEL', meaning: 'The lowest level of messages that are logged to stderr.' },
    ['debug', 'info', 'warning', 'error'],
    'info',
    { warn: 'warning', critical: 'error', fatal: 'error' },
  ),
  load: choice(
    {
      variable: 'MCP_BRIDGE_LOAD',
      meaning:
        '`lazy`: a cell may use every server. `explicit`: only the servers that its call names; the others are listed by name and description.',
    },
    ['lazy', 'explicit'],
    'lazy',
  ),
  permissions: choice(
    {
      variable: 'MCP_BRIDGE_PERMISSIONS',
      meaning:
        'Calls that no rule matches: `open` allows them, `careful` asks unless the tool is read-only, `readonly` denies them unless the tool is read-only.',
    },
    PRESETS,
    'open',
  ),
  askTimeoutMs: seconds(
    {
      variable: 'MCP_BRIDGE_ASK_TIMEOUT',
      meaning: 'How long the user has to answer a question about a call. No answer is a no.',
    },
    { default: 300, min: 5, max: 3600 },
  ),
  open: flag(
    {
      variable: 'MCP_BRIDGE_OPEN',
      meaning: 'Open the page with questions about calls in your browser when the client cannot ask you.',
    },
    false,
  ),
  jail: choice(
    {
      variable: 'MCP_BRIDGE_JAIL',
      meaning: 'Which stdio servers run in a jail: those whose definition has a `sandbox`, or `all` of them.',
    },
    ['configured', 'all'],
    'configured',
  ),
  jailImage: pattern(
    {
      variable: 'MCP_BRIDGE_JAIL_IMAGE',
      meaning:
        'The container image that jailed servers run in. Without it, they run with the programs of this machine.',
    },
    { allowed: 'an image name such as node:24-slim', matches: IMAGE_NAME, default: undefined },
  ),
  upstreams: choice(
    {
      variable: 'MCP_BRIDGE_UPSTREAMS',
      meaning:
        'Where stdio servers run: with the bridge, or each in a pod of the cluster, in the image of its definition or `MCP_BRIDGE_JAIL_IMAGE`.',
    },
    ['local', 'pods'],
    'local',
  ),
  keychain: choice(
    {
      variable: 'MCP_BRIDGE_KEYCHAIN',
      meaning: 'Encrypt stored sign-ins with a key from the system’s keychain, if it has one.',
    },
    ['auto', 'off'],
    'auto',
  ),
  signInKey: pattern(
    {
      variable: 'MCP_BRIDGE_SIGN_IN_KEY',
      meaning:
        'Encrypt stored sign-ins with this key in place of the keychain’s, such as one from `openssl rand -hex 32`.',
      secret: true,
    },
    { allowed: '64 digits and letters from a to f', matches: /^[0-9a-f]{64}$/, default: undefined },
  ),
  clientMetadataUrl,
  allowSelfServer: flag(
    {
      variable: 'MCP_BRIDGE_ALLOW_SELF_SERVER',
      meaning: 'Keep server entries that would start this bridge again.',
    },
    false,
  ),
  poolCount: wholeNumber(
    { variable: 'MCP_BRIDGE_POOL', meaning: 'The number of sandboxes started in advance.' },
    { default: 1, min: 0, max: 16 },
  ),
  poolMaxCount: {
    ...optionalWholeNumber(
      {
        variable: 'MCP_BRIDGE_POOL_MAX',
        meaning:
          'How many sandboxes may be kept waiting: more than `MCP_BRIDGE_POOL` where sessions begin faster than sandboxes start.',
      },
      { min: 1, max: 64 },
    ),
    defaultText: 'as many as `MCP_BRIDGE_POOL`',
  },
  runtimeIdleTimeoutMs: seconds(
    {
      variable: 'MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT',
      meaning: 'The idle timeout of a session; 0 disables it.',
    },
    { default: 300, min: 0, max: DAY_S },
  ),
  image,
  forkServer: choice(
    {
      variable: 'MCP_BRIDGE_FORK_SERVER',
      meaning:
        'Fork the sandboxes of bubblewrap from one process, in milliseconds: `auto` with the Python of this machine, `on` with an image’s, too.',
    },
    ['auto', 'on', 'off'],
    'auto',
  ),
  cpus: optionalNumber({ variable: 'MCP_BRIDGE_CPUS', meaning: 'The CPU limit of a container.' }, 1024),
  containerUser: pattern(
    { variable: 'MCP_BRIDGE_CONTAINER_USER', meaning: 'The user and group inside a container.' },
    { allowed: 'user or user:group, such as 65534:65534', matches: /^\w[\w-]*(:\w[\w-]*)?$/, default: '65534:65534' },
  ),
  pidsCount: wholeNumberAtLeast(
    { variable: 'MCP_BRIDGE_PIDS', meaning: 'The limit of processes and threads in a container.' },
    { default: 128, min: 16, max: 65_536 },
  ),
  ociRuntime: pattern(
    {
      variable: 'MCP_BRIDGE_OCI_RUNTIME',
      meaning: 'Another OCI runtime for the container engine, such as `runsc`; in a cluster, a RuntimeClass.',
    },
    { allowed: 'the name or path of a runtime', matches: /^[\w/][\w./-]*$/, default: undefined },
  ),
  kubernetesContext: pattern(
    { variable: 'MCP_BRIDGE_KUBERNETES_CONTEXT', meaning: 'The context of your kubeconfig files that pods run in.' },
    { allowed: 'a name without spaces', matches: /^\S+$/, default: undefined },
  ),
  kubernetesNamespace: pattern(
    { variable: 'MCP_BRIDGE_KUBERNETES_NAMESPACE', meaning: 'The namespace of pods, where it is not the context’s.' },
    { allowed: 'the name of a namespace', matches: /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, default: undefined },
  ),
  kubernetesNetwork: choice(
    {
      variable: 'MCP_BRIDGE_KUBERNETES_NETWORK',
      meaning: '`checked`: refuse a cluster whose pods reach a network. `unchecked`: do not try.',
    },
    ['checked', 'unchecked'],
    'checked',
  ),
  kubernetesSeccomp: pattern(
    {
      variable: 'MCP_BRIDGE_KUBERNETES_SECCOMP',
      meaning:
        'A seccomp profile on every node, in the seccomp folder of its kubelet. Without it, pods have `RuntimeDefault`.',
    },
    {
      allowed: 'a path below that folder, such as sandbridge.json',
      matches: /^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$))[\w./-]+$/,
      default: undefined,
    },
  ),
  kubernetesStartMs: seconds(
    {
      variable: 'MCP_BRIDGE_KUBERNETES_START',
      meaning: 'How long a pod may take to run, with pulling its image and waiting for a node.',
    },
    { default: 60, min: 5, max: 1800 },
  ),
  outputTokenCount: wholeNumber(
    { variable: 'MCP_BRIDGE_OUTPUT_TOKENS', meaning: 'The approximate token limit of a cell’s result.' },
    { default: 6000, min: 100, max: 1_000_000 },
  ),
  outputMemoryBytes: size(
    {
      variable: 'MCP_BRIDGE_OUTPUT_MEMORY',
      meaning: 'The memory limit for the output of cells, over all sessions. Older output moves to the cache folder.',
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
    { variable: 'MCP_BRIDGE_EMBEDDINGS_MODEL', meaning: 'The model to request from that endpoint.' },
    { allowed: 'the name of a model', matches: /^\S+$/, default: undefined },
  ),
  embeddingsKey: pattern(
    {
      variable: 'MCP_BRIDGE_EMBEDDINGS_KEY',
      meaning: 'The API key for that endpoint, sent as a bearer token.',
      secret: true,
    },
    { allowed: 'a key without spaces', matches: /^[\x21-\x7e]+$/, default: undefined },
  ),
  upstreamIdleMs,
  sources: list(
    {
      variable: 'MCP_BRIDGE_SOURCES',
      meaning: 'The sources of server entries: names, `all`, or `-name` to exclude one.',
    },
    {
      allowed: `all, or names separated by commas, each with a - before it to exclude it: ${SOURCE_NAMES.join(', ')}`,
      separator: /[\s,]+/,
      matches: new RegExp(`^(all|-?(${SOURCE_NAMES.join('|')}))$`),
      defaultText: 'all',
    },
  ),
  profile: pattern(
    { variable: 'MCP_BRIDGE_PROFILE', meaning: 'The only servers: a profile of `sandbridge profile`.' },
    { allowed: 'the name of a profile', matches: /^[a-z0-9][a-z0-9_-]{0,63}$/, default: undefined },
  ),
  registries,
  expose: list(
    { variable: 'MCP_BRIDGE_EXPOSE', meaning: 'Workflows that are tools and prompts of their own.' },
    {
      allowed: 'names of workflows separated by commas, such as weekly-report',
      separator: /[\s,]+/,
      matches: /^[a-z][a-z0-9-]{0,63}$/,
    },
  ),
  languages,
  session: choice(
    {
      variable: 'MCP_BRIDGE_SESSION',
      meaning:
        '`shared`: cells share variables and files. `fresh`: each cell gets its own sandbox. `durable`: as `shared`, and the sandbox outlives the bridge (docker, podman and kubernetes).',
    },
    ['shared', 'fresh', 'durable'],
    'shared',
  ),
  durableTimeoutMs: seconds(
    {
      variable: 'MCP_BRIDGE_DURABLE_TIMEOUT',
      meaning: 'How long a durable sandbox waits for the next bridge.',
    },
    { default: 3600, min: 10, max: 7 * DAY_S },
  ),
  durableCount: wholeNumber(
    {
      variable: 'MCP_BRIDGE_DURABLE_SANDBOXES',
      meaning: 'The most durable sandboxes of docker or podman that are kept; those used longest ago end first.',
    },
    { default: 4, min: 1, max: 100 },
  ),
  compat: flag(
    {
      variable: 'MCP_BRIDGE_COMPAT',
      meaning: 'Give cells the API of mcp-server-code-execution-mode where it differs: see docs/migration.md.',
    },
    false,
  ),
  projects: flag(
    {
      variable: 'MCP_BRIDGE_PROJECTS',
      meaning: 'Give cells a folder `/projects` whose files persist.',
    },
    true,
  ),
  checkpoint: flag(
    { variable: 'MCP_BRIDGE_CHECKPOINT', meaning: 'Restore variables that can be pickled after a forced restart.' },
    false,
  ),
  mask,
  maskEndpoint,
  audit: choice(
    {
      variable: 'MCP_BRIDGE_AUDIT',
      meaning:
        'What the record of runs and calls holds: nothing (`off`), the shape and hash of arguments (`shape`), the arguments without secrets (`full`), or also the code and the answers of servers, for `sandbridge save` (`replay`).',
    },
    ['off', 'shape', 'full', 'replay'],
    'shape',
  ),
  auditRequired: flag(
    {
      variable: 'MCP_BRIDGE_AUDIT_REQUIRED',
      meaning: 'Make no call that cannot be recorded first, such as on a full disk.',
    },
    false,
  ),
  live: flag(
    {
      variable: 'MCP_BRIDGE_LIVE',
      meaning:
        'Let your own programs, such as `sandbridge top` and the page, watch and use this bridge over a socket in the state folder.',
    },
    true,
  ),
  metrics,
  metricsToken: pattern(
    {
      variable: 'MCP_BRIDGE_METRICS_TOKEN',
      meaning: 'The bearer token that Prometheus must send.',
      secret: true,
    },
    { allowed: TOKEN_WORDS, matches: TOKEN_FORM, default: undefined },
  ),
  mount,
  packages: list(
    { variable: 'MCP_BRIDGE_PACKAGES', meaning: 'Python packages that cells can import.' },
    {
      allowed: 'requirements, wheel files or folders of wheels, separated by spaces, such as numpy pandas>=2',
      separator: /\s+/,
      // Never an option: the words end up on an installer's command line.
      matches: /^[^-\s]\S*$/,
    },
  ),
  handleKey: pattern(
    {
      variable: 'MCP_BRIDGE_HANDLE_KEY',
      meaning:
        'The key of session handles, the same for all replicas of `run --http`. Needed where durable sandboxes are pods.',
      secret: true,
    },
    { allowed: 'at least 32 printable characters without spaces', matches: /^[\x21-\x7e]{32,}$/, default: undefined },
  ),
  httpToken: pattern(
    {
      variable: 'MCP_BRIDGE_HTTP_TOKEN',
      meaning: 'The bearer token that clients of `run --http` must send.',
      secret: true,
    },
    { allowed: TOKEN_WORDS, matches: TOKEN_FORM, default: undefined },
  ),
  publicUrl,
  oauthIssuers,
  oauthAudience: pattern(
    {
      variable: 'MCP_BRIDGE_OAUTH_AUDIENCE',
      meaning: 'What the `aud` of an access token must name, where that is not the address of the bridge.',
    },
    { allowed: 'text without spaces', matches: /^[\x21-\x7e]+$/, default: undefined },
  ),
  oauthScopes: list(
    { variable: 'MCP_BRIDGE_OAUTH_SCOPES', meaning: 'Scopes that an access token must have, all of them.' },
    // RFC 6749, section 3.3.
    { allowed: 'scopes separated by spaces', separator: /\s+/, matches: /^[\x21\x23-\x5b\x5d-\x7e]+$/ },
  ),
  httpSessionCount: wholeNumber(
    { variable: 'MCP_BRIDGE_HTTP_SESSIONS', meaning: 'The most sessions that `run --http` keeps open.' },
    { default: 16, min: 1, max: 1000 },
  ),
  userSandboxCount: optionalWholeNumber(
    { variable: 'MCP_BRIDGE_USER_SANDBOXES', meaning: 'The most sessions that one user of `run --http` has open.' },
    { min: 1, max: 1000 },
  ),
  userCellSeconds: optionalWholeNumber(
    {
      variable: 'MCP_BRIDGE_USER_CELL_SECONDS',
      meaning: 'The seconds that cells of one user of `run --http` may run in an hour, all together.',
    },
    { min: 1, max: 10_000_000 },
  ),
  userCallCount: optionalWholeNumber(
    {
      variable: 'MCP_BRIDGE_USER_CALLS',
      meaning: 'The calls that cells of one user of `run --http` may make in an hour.',
    },
    { min: 1, max: 100_000_000 },
  ),
  drainMs: seconds(
    {
      variable: 'MCP_BRIDGE_DRAIN',
      meaning: 'How long `run --http` lets cells end after SIGTERM; 0 ends them at once.',
    },
    { default: 0, min: 0, max: DAY_S },
  ),
  storage,
  cacheDir: folder(
    { variable: 'MCP_BRIDGE_CACHE_DIR', meaning: 'The folder for cached data. It can be deleted at any time.' },
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
  if (values.metrics && !isLoopback(values.metrics.host) && values.metricsToken === undefined) {
    const reached = `MCP_BRIDGE_METRICS: other machines can reach ${values.metrics.host}`
    problems.push(`${reached}. Set MCP_BRIDGE_METRICS_TOKEN, which Prometheus sends, or use 127.0.0.1.`)
  }
  if (values.upstreams === 'pods' && values.runtime !== 'kubernetes') {
    problems.push(`MCP_BRIDGE_UPSTREAMS=pods needs MCP_BRIDGE_RUNTIME=kubernetes, and it is ${values.runtime}.`)
  }
  if (values.session === 'durable' && !KEEPING_RUNTIMES.has(values.runtime)) {
    const other = `MCP_BRIDGE_RUNTIME=${values.runtime}`
    problems.push(
      `MCP_BRIDGE_SESSION=durable needs docker, podman or kubernetes: ${other} cannot keep a sandbox. ${INSTEAD}`,
    )
  }
  if (problems.length > 0) {
    throw new BridgeError('CONFIG_INVALID', problems.join('\n'), { hint: 'docs/configuration.md lists every setting.' })
  }
  return Object.freeze({ ...values, timeoutMs, warnings: [...remarks, ...unknownNames(env)] })
}

/** Whose sandboxes can outlive the bridge. */
const KEEPING_RUNTIMES = new Set<string>(['auto', 'docker', 'podman', 'kubernetes'])
const INSTEAD = 'Set MCP_BRIDGE_RUNTIME to one of these, or MCP_BRIDGE_SESSION=shared.'

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
