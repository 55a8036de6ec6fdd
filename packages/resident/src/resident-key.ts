// Which clients share a resident: those for which everything that one process can have only once is the same. A list of
// what counts, never of what does not: variables of terminals and editors differ without meaning.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import path from 'node:path'
import type { ClientContext } from '@sandbridge/core/config/settings'
import { findPlaces, hostScope, realpathOr, withUsualFolders } from '@sandbridge/core/util/process'
import { installation } from '@sandbridge/core/util'
import { textName } from '@sandbridge/core/util/text'
import { PROTOCOL } from './reach/protocol.ts'

/** The last two: of what installs the packages of cells. */
const PREFIXES = ['MCP_BRIDGE_', 'OTEL_', 'PIP_', 'UV_']
const wordsOf = (text: string): ReadonlySet<string> => new Set(text.split(' '))
/**
 * Variables whose value is a path, begins with one, or has several. Names, because each regular expression costs a
 * tenth of a millisecond when it is first used.
 */
const PATHS = wordsOf(
  'MCP_SERVERS_CONFIG MCP_BRIDGE_STATE_DIR MCP_BRIDGE_CACHE_DIR MCP_BRIDGE_MOUNT TMP TEMP TMPDIR KUBECONFIG ' +
    'XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR DOCKER_CONFIG DOCKER_CERT_PATH CONTAINER_SSHKEY ' +
    'CONTAINERS_CONF CONTAINERS_CONF_OVERRIDE CONTAINERS_REGISTRIES_CONF CONTAINERS_STORAGE_CONF REGISTRY_AUTH_FILE ' +
    // What Node's TLS reads in this process, for the connections of all clients.
    'NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR OPENSSL_CONF OPENSSL_MODULES ' +
    // What pip reads beside its own, and what its Python loads.
    'REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NETRC PYTHONPATH PYTHONHOME PYTHONUSERBASE',
)
const OTHERS = wordsOf(
  'LOCALAPPDATA DOCKER_HOST DOCKER_CONTEXT DOCKER_TLS DOCKER_TLS_VERIFY CONTAINER_HOST CONTAINER_CONNECTION ' +
    'DBUS_SESSION_BUS_ADDRESS NODE_OPTIONS NODE_TLS_REJECT_UNAUTHORIZED NODE_USE_SYSTEM_CA NODE_USE_ENV_PROXY ' +
    // What is loaded into this process.
    'LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH',
)
/** What it starts for all clients. Servers start with the PATH of their own client. */
const ENGINES = ['podman', 'docker', ...(process.platform === 'win32' ? ['py', 'python'] : ['bwrap'])]
/** A connection's own; set by `uv run` for what it starts. */
const OWN = wordsOf('MCP_BRIDGE_LOG_LEVEL MCP_BRIDGE_TOOLS UV_RUN_RECURSION_DEPTH UV_INTERNAL__PARENT_INTERPRETER')
/** For packages, images and registries. Servers have those of their own client. */
const PROXIES = wordsOf('http_proxy https_proxy all_proxy no_proxy')
/** Variables with paths or addresses, of which some have names. */
const SOURCES = new RegExp(
  '^(?:PIP|UV)_(?:CONFIG_FILE|CACHE_DIR|(?:CLIENT_)?CERT|CONSTRAINT|OVERRIDE|FIND_LINKS|' +
    '(?:EXTRA_|DEFAULT_)?INDEX(?:_URL)?)$',
)
const ADDRESS = /^[a-z][a-z+.-]+:/i
/** Variables with paths among other words. */
const WORDS = wordsOf('MCP_BRIDGE_PACKAGES NODE_OPTIONS')
const ABSOLUTE = /^(?:[/\\~]|[A-Za-z]:[/\\])/

/** What Yarn, and the debugger of VS Code in its terminals, load into each Node that they start. */
const HOOK =
  /(?:^|\s)(?:-r|--require|--import|--(?:experimental-)?loader)[\s=](?:"[^"]*(?:\.pnp\.|bootloader)[^"]*"|\S*(?:\.pnp\.|bootloader)\S*)/g

/**
 * What a launcher sets is no setting. The shims of pnpm set NODE_PATH, of which the package, a bundle, has no need.
 */
export function withoutLaunchers(env: ClientContext['env']): ClientContext['env'] {
  const { NODE_PATH: _, NODE_OPTIONS: options, ...others } = env
  const own = options?.replaceAll(HOOK, '').trim()
  return own ? { ...others, NODE_OPTIONS: own } : others
}

export interface ResidentKey {
  /** Everything that counts. Secret: settings may be. */
  text: string
  /** A name for files. */
  name: string
  /** The folder that relative paths of settings are meant from; missing when there are none. */
  cwd: string | undefined
  /** The PATH of the resident. */
  readonly path: string
}

/** @param runtime what settings.json says of it */
export function residentKey(
  { env, cwd, home }: Pick<ClientContext, 'env' | 'cwd' | 'home'>,
  runtime = '',
): ResidentKey {
  const counts = (name: string): boolean =>
    !OWN.has(name) &&
    (PATHS.has(name) ||
      OTHERS.has(name) ||
      PREFIXES.some((prefix) => name.startsWith(prefix)) ||
      PROXIES.has(name.toLowerCase()))
  const variables = Object.entries(withoutLaunchers(env))
    .filter(([name, value = '']) => counts(name) && value !== '' && !isUsual(name, value, home))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const isRelative = variables.some(([name, value]) => hasRelative(name, value!))
  const folder = isRelative ? cwd : undefined
  // Plugins of a cluster for sign-in may be any programs.
  const found = /kubernetes/i.test(env['MCP_BRIDGE_RUNTIME']?.trim() || runtime) ? undefined : programs(env['PATH'])
  const text = JSON.stringify([
    PROTOCOL,
    installation(),
    process.execPath,
    home,
    process.umask(),
    hostScope(),
    walls(),
    found ?? env['PATH'],
    variables,
    folder ?? null,
  ])
  return {
    text,
    name: nameOfKey(text),
    cwd: folder,
    // Only the relay that starts it asks.
    get path() {
      return residentPath(env['PATH'], found)
    },
  }
}

/** A name for files. The paths of sockets are short. */
export function nameOfKey(text: string): string {
  return textName(text).slice(0, 20)
}

/**
 * Whether this is what holds without the variable. Many clients start servers with HOME, PATH and a few others only, as
 * MCP's own packages do.
 */
function isUsual(name: string, value: string, home: string): boolean {
  switch (name) {
    case 'TMPDIR':
      return /^(?:\/tmp|\/var\/folders\/[^/]+\/[^/]+\/T)\/?$/.test(value)
    case 'TEMP':
    case 'TMP':
      return value.toLowerCase() === path.join(home, 'AppData', 'Local', 'Temp').toLowerCase()
    case 'LOCALAPPDATA':
      return value === path.join(home, 'AppData', 'Local')
    case 'XDG_CACHE_HOME':
      return value === path.join(home, '.cache')
    case 'XDG_CONFIG_HOME':
      return value === path.join(home, '.config')
    default:
      return usualVariables()[name] === value.replace(/,guid=[0-9a-f]+$/, '')
  }
}

/** Of a user who is logged in, on Linux with systemd. */
export function usualVariables(): Record<string, string> {
  const runtime = `/run/user/${process.getuid?.()}`
  return { XDG_RUNTIME_DIR: runtime, DBUS_SESSION_BUS_ADDRESS: `unix:path=${runtime}/bus` }
}

/**
 * The folders that PATH leads to for each engine, and for the Python of bubblewrap. A desktop and a shell have another
 * PATH, which mostly leads to the same ones.
 */
function programs(search: string | undefined): string[][] {
  const engines = ENGINES.map((name) => [...findPlaces(name, search).keys()])
  // Only bubblewrap runs cells with a Python of this machine, whose packages they see.
  return engines.at(-1)!.length === 0 ? engines : [...engines, [...findPlaces('python3', search).keys()]]
}

/**
 * Of its first client's PATH, only the folders that count. In any other, that client could put what the resident then
 * runs for all of them, now or later.
 */
function residentPath(search: string | undefined, counts: string[][] | undefined): string {
  if (!counts) return withUsualFolders(search)
  const folders = (search ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder))
  const found = folders.map(realpathOr).filter((folder) => counts.some((places) => places.includes(folder)))
  return withUsualFolders(found.join(path.delimiter))
}

/**
 * What confines this process on Linux: one in a sandbox does not share with those outside. On Windows, whether it has
 * the rights of an administrator, who alone may list this folder: the same user has them in some windows only.
 */
function walls(): unknown {
  if (process.platform === 'win32') {
    try {
      return readdirSync(path.join(process.env['SystemRoot'] ?? 'C:/Windows', 'System32/config')).length > 0
    } catch {
      return false
    }
  }
  try {
    const status = readFileSync('/proc/self/status', 'utf8')
    const namespaces = ['mnt', 'net', 'user'].map((name) => readlinkSync(`/proc/self/ns/${name}`))
    return [namespaces, status.match(/^(?:NoNewPrivs|Seccomp):.*$/gm)]
  } catch {
    return null
  }
}

function hasRelative(name: string, value: string): boolean {
  if (WORDS.has(name))
    return value.split(/\s+/).some((word) => /^(?:--?[\w-]+=)?\.{1,2}[/\\]|^[^/~].*\.whl$/.test(word))
  if ((name.startsWith('PIP_') || name.startsWith('UV_')) && SOURCES.test(name)) {
    const words = value.split(/[\s,]+/).map((word) => word.replace(/^[\w-]+=/, ''))
    return words.some((word) => word !== '' && !ABSOLUTE.test(word) && !ADDRESS.test(word))
  }
  const all = PATHS.has(name) ? value.replace(/:r[ow]$/, '').split(path.delimiter) : []
  return all.some((one) => one !== '' && !ABSOLUTE.test(one.trim()))
}
