// Converts the start of a server to a start inside a jail, or fails: a server that must be jailed never runs without.
// A maker is what makes the jail (bubblewrap, podman, docker); the view, what the server sees of the file system. A
// publisher's entry (from a registry) opens nothing, nor does a planted link, which the jailed server may have made.
import { chmod, chown, rm } from 'node:fs/promises'
import path from 'node:path'
import type { ClientContext, Environment } from '@sandbridge/core/config/settings'
import { IMAGE_NAME, NETWORK_VARIABLES, passedEnvironment } from '@sandbridge/core/config/entries'
import type { ServerDefinition, ServerSandbox, StdioServer } from '@sandbridge/core/config/entries'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { folderFor } from '@sandbridge/containers/seccomp-file.ts'
import { makeTemporaryFolder } from '@sandbridge/core/isolation'
import { makePrivateFolder } from '@sandbridge/core/util/files'
import { afterBridge } from './after-bridge.ts'
import { type AllowedDomains, allowedDomains } from './network/allowed-domains.ts'
import { bubblewrapArguments, INNER_SOCKET, serverFilter, UNPRIVILEGED_UID } from './jails/bubblewrap-jail.ts'
import { type FilteringProxy, startFilteringProxy } from './network/filtering-proxy.ts'
import { makeGuardedPlaces } from './places/guarded-places.ts'
import { type Jail, jailHome, type JailPlace } from '@sandbridge/core/parts'
import { findJailMaker, type JailMaker } from './jail-maker.ts'
import { behindForwarder, proxyVariables } from './jails/launcher.ts'
import { withoutPlanted } from './places/planted-links.ts'
import { startContainer } from './jails/start-container.ts'
import { type JailStart, refuseTooMuch, viewFor } from './places/view.ts'

/** Variables that name folders in the real home. */
const HOME_FOLDERS = /^(?:XDG_\w+|TMPDIR)$/
const MAX_REFUSALS_TOLD = 20

/** See `JailsPart`. */
export async function openJail(
  { name, isPublishers }: Pick<ServerDefinition, 'name' | 'isPublishers'>,
  server: StdioServer & { sandbox: ServerSandbox },
  { cwd, env: inherited }: Pick<ClientContext, 'cwd' | 'env'>,
  place: JailPlace,
): Promise<Jail> {
  // The folder that the bridge runs in is the user's, and not for every server of a registry.
  const folder = path.resolve(isPublishers ? place.home : cwd, server.cwd ?? '')
  const image = server.sandbox.image ?? place.image
  if (image !== undefined && !IMAGE_NAME.test(image))
    throw new BridgeError('CONFIG_INVALID', `The sandbox of server '${name}' has an image whose name is invalid`)
  const maker = await findJailMaker(image, place.makers)
  if (typeof maker === 'string') throw unavailable(name, maker)
  const sandbox = { ...server.sandbox, filesystem: await withoutPlanted(server.sandbox.filesystem ?? {}) }
  const { network = false } = sandbox
  const domains = typeof network === 'boolean' ? undefined : allowedDomains(network)
  // Unix sockets of this machine do not work inside a virtual machine.
  if (domains && process.platform !== 'linux')
    throw unavailable(name, `${maker.name} filters no network here; only \`"network": true\` and \`false\` work`)
  const inImage = image !== undefined
  const passed = { ...(inImage ? imageEnvironment(inherited) : passedEnvironment(inherited)), ...server.env }
  const request = {
    server,
    sandbox,
    cwd: folder,
    opensNamed: !isPublishers,
    home: place.home,
    searchPath: passed['PATH'] ?? '',
    stateDir: place.stateDir,
    hidden: place.hidden(),
    files: [
      ...(inImage ? [] : [process.execPath]),
      ...NETWORK_VARIABLES.certificates.flatMap((variable) => passed[variable] ?? []),
    ],
    inImage,
  }
  await refuseTooMuch(request)
  const owner = ownerFor(maker)
  const home = { source: await privateHome(name, place.stateDir, owner), target: place.home }
  const temporary = await makeTemporaryFolder(maker.name === 'bubblewrap' ? undefined : folderFor(maker.name))
  let guards: Awaited<ReturnType<typeof makeGuards>> | undefined
  const cleanUp = async (): Promise<void> => {
    await guards?.remove()
    await rm(temporary, { recursive: true, force: true }).catch(() => {})
  }
  try {
    guards = await makeGuards(sandbox, maker)
    const view = await viewFor(request)
    const proxy =
      domains && (await openProxy(temporary, domains, (host, reason) => place.onRefused(name, host, reason)))
    if (owner !== undefined) await chown(temporary, owner, owner)
    const command = [view.command, ...server.args]
    const started = {
      home,
      mounts: view.mounts,
      proxySocket: proxy?.socketPath,
      network: network === true,
      cwd: folder,
      command: proxy ? behindForwarder(inImage ? 'node' : process.execPath, INNER_SOCKET, command) : command,
      environment: environment(
        passed,
        server,
        place,
        network === true ? undefined : domains ? proxyVariables(domains.hasLocal) : {},
      ),
    }
    const jail =
      maker.name === 'bubblewrap'
        ? await startBubblewrap(maker, started)
        : await startContainer(maker, started, temporary)
    const release = async (): Promise<void> => {
      proxy?.close()
      await jail.release()
      await cleanUp()
    }
    return { launch: jail.launch, release }
  } catch (error) {
    await cleanUp()
    throw error
  }
}

/** The folders that guard what is missing, removed when the jail has ended or, if the bridge is killed, by a shell. */
async function makeGuards({ filesystem = {} }: ServerSandbox, maker: JailMaker): Promise<{ remove(): Promise<void> }> {
  const made = await makeGuardedPlaces(filesystem)
  if (made.folders.length === 0) return made
  // Until then the jail has ended, too: bubblewrap ends with the bridge, a container is removed.
  const seconds = maker.name === 'bubblewrap' ? 1 : 20
  const dismiss = afterBridge(`sleep ${seconds}; rmdir -- "$@"`, made.folders)
  return {
    async remove() {
      await made.remove()
      dismiss()
    },
  }
}

async function startBubblewrap(
  { bubblewrap }: JailMaker & { name: 'bubblewrap' },
  { home, proxySocket, mounts, network, cwd, command, environment: env }: JailStart,
): Promise<Jail> {
  const places = { home, proxySocket, mounts }
  const args = await bubblewrapArguments(bubblewrap, places, { network, cwd, filtered: true })
  return {
    launch: {
      command: bubblewrap.bwrap,
      args: [...args, '--', ...bubblewrap.become, ...command],
      env,
      extraInput: serverFilter(),
    },
    release: () => Promise.resolve(),
  }
}

/**
 * The user id that owns the jail's files when the bridge runs as root; undefined for any other user, whose files stay
 * theirs.
 */
function ownerFor(maker: JailMaker): number | undefined {
  if (process.getuid?.() !== 0) return undefined
  return maker.name === 'bubblewrap' ? UNPRIVILEGED_UID : (maker.container.engine.hostUid ?? UNPRIVILEGED_UID)
}

/** The bridge's environment without variables that name programs and folders of this machine. */
function imageEnvironment(inherited: Environment): Record<string, string> {
  const { proxies, certificates, registries } = NETWORK_VARIABLES
  const kept = new Set([...proxies, ...certificates, ...registries, 'LANG', 'LC_ALL', 'LC_CTYPE', 'TERM', 'TZ'])
  return Object.fromEntries(Object.entries(passedEnvironment(inherited)).filter(([variable]) => kept.has(variable)))
}

/** @param proxies replaces the machine's own proxy settings; undefined keeps them */
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

/** The home folder for files of npx, uvx and the server. It is kept, so that the next start downloads nothing. */
async function privateHome(name: string, stateDir: string, owner: number | undefined): Promise<string> {
  const folder = jailHome(name, stateDir)
  makePrivateFolder(path.dirname(folder))
  makePrivateFolder(folder)
  if (owner !== undefined) await chown(folder, owner, owner)
  return folder
}

async function openProxy(
  folder: string,
  domains: AllowedDomains,
  tell: (host: string, reason: string) => void,
): Promise<FilteringProxy & { socketPath: string }> {
  const socketPath = path.join(folder, 'proxy.sock')
  const told = new Set<string>()
  const onRefused = (host: string, reason: string): void => {
    const key = `${host} ${reason}`
    if (told.has(key) || told.size >= MAX_REFUSALS_TOLD) return
    told.add(key)
    tell(host, reason)
  }
  const proxy = await startFilteringProxy({ socketPath, domains, onRefused })
  // Its folder is closed to other users; inside the jail, root's servers are another user.
  await chmod(socketPath, 0o666)
  return { ...proxy, socketPath }
}

function unavailable(name: string, why: string): BridgeError {
  const remedy =
    process.platform === 'linux'
      ? 'Install bubblewrap (apt install bubblewrap, dnf install bubblewrap), podman or docker, or'
      : 'Install podman or docker and set MCP_BRIDGE_JAIL=image=IMAGE, with the programs of the server, or'
  const message = `Server '${name}' must run in a jail, and none can be made: ${why}.`
  return new BridgeError('UPSTREAM_JAIL_UNAVAILABLE', message, {
    hint: `The server was not started. Ask the user: ${remedy} take the server's \`sandbox\` away.`,
    userHint: `${remedy} take the server's \`sandbox\` away. \`sandbridge doctor\` says what works here.`,
  })
}
