// Turns the start of a server into a start inside a jail, or fails: a server that was told to be jailed never runs without one.
import { chmod, chown, rm } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import path from 'node:path'
import { NETWORK_VARIABLES, passedEnvironment } from '../../../config/passed-variables.ts'
import type { ServerSandbox, StdioServer } from '../../../config/server-definition.ts'
import { BridgeError } from '../../../errors.ts'
import { makeTemporaryFolder } from '../../../sandbox/temporary-folder.ts'
import { makePrivateFolder } from '../../../storage/private-folder.ts'
import { allowedDomains } from './allowed-domains.ts'
import {
  bubblewrapArguments,
  findBubblewrapJail,
  INNER_SOCKET,
  serverFilter,
  UNPRIVILEGED_UID,
} from './bubblewrap-jail.ts'
import { type FilteringProxy, startFilteringProxy } from './filtering-proxy.ts'
import { behindRelay, proxyVariables } from './launcher.ts'
import { viewFor } from './view.ts'

/** Where jails are made. */
export interface JailPlace {
  /** The user's home folder, which no jail shows. */
  home: string
  /** Where the bridge keeps what is the user's, with a home folder for each jailed server. */
  stateDir: string
  /** Folders and files of the bridge and of other servers. Read when a server is started. */
  hidden: () => readonly string[]
  /** A server tried to reach a host that it may not reach. */
  onRefused: (server: string, host: string, reason: string) => void
}

/** How a process is started instead. */
export interface Launch {
  command: string
  args: string[]
  env: Record<string, string>
  /** Content of descriptor 3. */
  extraInput?: Buffer
}

export interface Jail {
  launch: Launch
  /** Frees what the process does not free itself, after its end. */
  release: () => void
}

/** Variables that name folders of the real home. */
const HOME_FOLDERS = /^(?:XDG_\w+|TMPDIR)$/
const MAX_REFUSALS_TOLD = 20

/**
 * @param server with its placeholders filled in
 * @throws BridgeError UPSTREAM_JAIL_UNAVAILABLE, CONFIG_INVALID; NodeJS.ErrnoException when the command is not there
 */
export async function openJail(
  name: string,
  server: StdioServer & { sandbox: ServerSandbox },
  cwd: string,
  place: JailPlace,
): Promise<Jail> {
  const jail = await findBubblewrapJail()
  if (typeof jail === 'string') throw unavailable(name, jail)
  const { sandbox } = server
  const { network = false } = sandbox
  const domains = typeof network === 'boolean' ? undefined : allowedDomains(network)
  const passed = { ...passedEnvironment(), ...server.env }
  const view = await viewFor({
    server,
    sandbox,
    cwd,
    home: place.home,
    searchPath: passed['PATH'] ?? '',
    stateDir: place.stateDir,
    hidden: place.hidden(),
    files: [process.execPath, ...NETWORK_VARIABLES.certificates.flatMap((variable) => passed[variable] ?? [])],
  })
  const home = await privateHome(name, place.stateDir)
  const proxy = domains && (await openProxy(domains, (host, reason) => place.onRefused(name, host, reason)))
  const args = await bubblewrapArguments(
    jail,
    { home: { source: home, target: place.home }, proxySocket: proxy?.socketPath, mounts: view.mounts },
    { network: network === true, cwd, filtered: true },
  )
  const command = [view.command, ...server.args]
  const inside = proxy ? behindRelay(process.execPath, INNER_SOCKET, command) : command
  return {
    launch: {
      command: jail.bwrap,
      args: [...args, '--', ...jail.become, ...inside],
      env: environment(
        passed,
        server,
        place,
        network === true ? undefined : domains ? proxyVariables(domains.hasLocal) : {},
      ),
      extraInput: serverFilter(),
    },
    release: () => proxy?.close(),
  }
}

/** @param proxies what takes the place of the machine's own proxy settings; undefined leaves them */
function environment(
  passed: Record<string, string>,
  server: StdioServer,
  { home }: JailPlace,
  proxies: Record<string, string> | undefined,
): Record<string, string> {
  const dropped = new Set([...NETWORK_VARIABLES.caches, ...(proxies ? NETWORK_VARIABLES.proxies : [])])
  const isKept = (variable: string): boolean =>
    Object.hasOwn(server.env, variable)
      ? !(proxies && NETWORK_VARIABLES.proxies.includes(variable))
      : !dropped.has(variable) && !HOME_FOLDERS.test(variable)
  const kept = Object.entries(passed).filter(([variable]) => isKept(variable))
  return { ...Object.fromEntries(kept), HOME: home, TMPDIR: '/tmp', ...proxies }
}

/** What npx, uvx and the server itself keep; it lasts, so that the next start downloads nothing. */
async function privateHome(name: string, stateDir: string): Promise<string> {
  const folder = jailHome(name, stateDir)
  await makePrivateFolder(path.dirname(folder))
  await makePrivateFolder(folder)
  if (process.getuid?.() === 0) await chown(folder, UNPRIVILEGED_UID, UNPRIVILEGED_UID)
  return folder
}

/** Where the home folder of a jailed server is, if it has one. */
export function jailHome(name: string, stateDir: string): string {
  const readable = name.replaceAll(/[^\w.-]/g, '_').slice(0, 40)
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return path.join(stateDir, '.sandbridge', 'jail', `${readable}-${hash}`)
}

async function openProxy(
  domains: ReturnType<typeof allowedDomains>,
  tell: (host: string, reason: string) => void,
): Promise<FilteringProxy & { socketPath: string }> {
  const folder = await makeTemporaryFolder()
  const socketPath = path.join(folder, 'proxy.sock')
  const told = new Set<string>()
  const onRefused = (host: string, reason: string): void => {
    const key = `${host} ${reason}`
    if (told.has(key) || told.size >= MAX_REFUSALS_TOLD) return
    told.add(key)
    tell(host, reason)
  }
  const proxy = await startFilteringProxy({ socketPath, domains, onRefused })
  // Its folder is closed to all others; inside, root's servers are another user.
  await chmod(socketPath, 0o666)
  const close = (): void => {
    proxy.close()
    void rm(folder, { recursive: true, force: true })
  }
  return { socketPath, close }
}

function unavailable(name: string, why: string): BridgeError {
  const remedy =
    process.platform === 'linux'
      ? 'Install bubblewrap (apt install bubblewrap, dnf install bubblewrap), or'
      : 'Run the bridge on Linux, or'
  return new BridgeError(
    'UPSTREAM_JAIL_UNAVAILABLE',
    `Server '${name}' must run in a jail, and none can be made: ${why}.`,
    {
      hint: `The server was not started. Ask the user: ${remedy} take the server's \`sandbox\` away.`,
      userHint: `${remedy} take the server's \`sandbox\` away. \`sandbridge doctor\` says what works here.`,
    },
  )
}
