// A jail in a container: no capabilities, our filter, a read-only root, and of this machine only the view.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { commandEnvironment } from '@sandbridge/core/util/process'
import { enginePath, type Engine } from '@sandbridge/containers/probe-engine.ts'
import { hardenedRun, PROXY_VARIABLES } from '@sandbridge/containers/run-arguments.ts'
import { profileFile } from '@sandbridge/containers/seccomp-file.ts'
import { refusingProfile } from '@sandbridge/containers/seccomp-profile.ts'
import { INNER_SOCKET, SHOWN_AGAIN, UNPRIVILEGED_UID } from './bubblewrap-jail.ts'
import type { RootFolders } from '../places/host-root.ts'
import { REFUSED_SYSCALLS, RULED_SERVER_SYSCALLS } from './server-syscalls.ts'
import { type Mount, HIDDEN_ROOTS } from '../places/view.ts'

export interface ContainerJail {
  engine: Engine
  image: string
  /** The machine's own folders, for an empty image; missing when the image has its own programs. */
  root?: RootFolders | undefined
}

export interface ContainerOptions {
  name: string
  labels: Record<string, string>
  home: { source: string; target: string }
  mounts: readonly Mount[]
  /** Mount points of this machine: mounting a folder read-only does not make mounts inside it read-only. */
  submounts: readonly string[]
  proxySocket: string | undefined
  /** An empty folder and a file without permissions, to mount over hidden ones. */
  nothing: { folder: string; file: string }
  network: boolean
  cwd: string
  /** Includes the values, which are passed only in the environment of the engine's command. */
  environment: Readonly<Record<string, string>>
}

/** Like bubblewrap's: in memory, without a size limit of its own. */
const TMPFS = 'rw,exec,nosuid,nodev,mode=1777'
/**
 * Variables that the engine's command itself reads: a server's values for them must not reach it. They are not secrets.
 */
const ENGINE_VARIABLES =
  /^(?:PATH|HOME|TMPDIR|LD_\w+|XDG_\w+|DBUS_\w+|GODEBUG|_?CONTAINERS?_\w+|DOCKER_(?:HOST|CONTEXT|CONFIG|CERT_PATH|TLS\w*|API_VERSION))$/
/** Names that an engine accepts; with a trailing star, an engine would pass all variables with that prefix. */
const VARIABLE = /^[A-Za-z_][\w.-]*$/

/**
 * Arguments of the engine's command, starting with `run`.
 * @throws BridgeError CONFIG_INVALID for a path that no engine can mount
 */
export function containerArguments(
  jail: ContainerJail,
  options: ContainerOptions,
  command: readonly string[],
): string[] {
  const { engine, image, root } = jail
  const { name, labels } = options
  const [program = '', ...args] = command
  return [
    ...hardenedRun({ engine, name, labels, seccompProfilePath: enginePath(serverProfile(engine), engine) }),
    // SELinux would refuse the mounted files, and relabelling would change the machine's own files.
    '--security-opt=label=disable',
    ...userArguments(engine),
    `--network=${options.network ? 'host' : 'none'}`,
    ...(engine.dialect === 'podman' && !options.network ? ['--no-hosts'] : []),
    ...(root ? ['/tmp', '/var'] : ['/tmp', '/var/tmp']).map((folder) => `--tmpfs=${folder}:${TMPFS}`),
    ...allMounts(root, options).map((mount) => mountArgument(mount, options.nothing)),
    `--workdir=${options.cwd}`,
    ...variableArguments(engine, options.environment),
    `--entrypoint=${program}`,
    image,
    ...args,
  ]
}

/** The environment of the engine's command: its own variables, and those that it passes on. */
export function engineEnvironment(environment: Readonly<Record<string, string>>): Record<string, string> {
  const handed = Object.entries(environment).filter(([name]) => !ENGINE_VARIABLES.test(name))
  const own = Object.entries(commandEnvironment()).filter((one): one is [string, string] => one[1] !== undefined)
  return Object.fromEntries([...own, ...handed])
}

function variableArguments({ dialect }: Engine, environment: Readonly<Record<string, string>>): string[] {
  const given = Object.entries(environment).filter(([name]) => VARIABLE.test(name))
  const copied = dialect === 'docker' ? PROXY_VARIABLES : []
  return [
    ...copied.filter((name) => !Object.hasOwn(environment, name)).map((name) => `${name}=`),
    ...given.map(([name, value]) => (ENGINE_VARIABLES.test(name) ? `${name}=${value}` : name)),
  ].flatMap((variable) => ['--env', variable])
}

/** Files of the server belong to the bridge's user. A server of root becomes another user. */
function userArguments({ dialect, rootless }: Engine): string[] {
  if (rootless) return dialect === 'podman' ? ['--userns=keep-id'] : ['--user=0:0']
  const uid = process.getuid?.() ?? 1000
  const gid = process.getgid?.() ?? 1000
  return [uid === 0 ? `--user=${UNPRIVILEGED_UID}:${UNPRIVILEGED_UID}` : `--user=${uid}:${gid}`]
}

function serverProfile({ command }: Engine): string {
  return profileFile('seccomp-servers.json', () => refusingProfile(REFUSED_SYSCALLS, RULED_SERVER_SYSCALLS), command)
}

/** All mounts, each target once: engines order them themselves. */
function allMounts(root: RootFolders | undefined, options: ContainerOptions): Mount[] {
  const { home, mounts, submounts, proxySocket } = options
  const read = (place: string): Mount => ({ kind: 'read', source: place, target: place })
  const shown = root ? [...root.folders, ...SHOWN_AGAIN.filter((place) => existsSync(place))].map(read) : []
  const others = mounts.filter(({ kind }) => kind !== 'read')
  // Leave out what the root already shows.
  const needed = mounts.filter(
    (mount) => !(root && mount.kind === 'read' && isShown(mount) && !others.some((one) => isBelow(one, mount.target))),
  )
  const readable = [...shown, ...needed].filter(({ kind }) => kind === 'read')
  const inside = submounts.flatMap((place) =>
    readable
      .filter(({ source, target }) => place.startsWith(`${source}/`) && !others.some((one) => isBelow(one, target)))
      .map(({ source, target }): Mount => ({
        kind: 'read',
        source: place,
        target: path.join(target, path.relative(source, place)),
      })),
  )
  const private_: Mount = { kind: 'write', ...home }
  const socket: Mount[] = proxySocket === undefined ? [] : [{ kind: 'read', source: proxySocket, target: INNER_SOCKET }]
  const byTarget = new Map([...shown, ...inside, ...needed, private_, ...socket].map((one) => [one.target, one]))
  const all = [...byTarget.values()]
  // In an empty folder is nothing to hide or to make read-only, and no place to mount anything.
  const isIdle = (mount: Mount): boolean =>
    (mount.kind.startsWith('hide') || inside.includes(mount)) && outerOf(mount, all)?.kind === 'hide-folder'
  return all.filter((mount) => !isIdle(mount))
}

/** The innermost mount that has this one in it. */
function outerOf({ target }: Mount, all: readonly Mount[]): Mount | undefined {
  const outer = all.filter((one) => target.startsWith(`${one.target}/`))
  return outer.toSorted((a, b) => b.target.length - a.target.length)[0]
}

const isShown = ({ source, target }: Mount): boolean =>
  [source, target].every((place) => !HIDDEN_ROOTS.has(place.split('/')[1] ?? ''))

const isBelow = ({ target }: Mount, place: string): boolean => place === target || place.startsWith(`${target}/`)

function mountArgument({ kind, source, target }: Mount, nothing: ContainerOptions['nothing']): string {
  const from = kind === 'hide-folder' ? nothing.folder : kind === 'hide-file' ? nothing.file : source
  // Engines separate the parts of a mount with commas.
  const odd = [from, target].find((place) => /[,"\n]/.test(place))
  if (odd !== undefined) {
    const message = `${odd} has a comma, a quotation mark or a line break: no container can show it.`
    throw new BridgeError('CONFIG_INVALID', message, { hint: 'Rename it, or install bubblewrap.' })
  }
  return `--mount=type=bind,source=${from},target=${target}${kind === 'write' ? '' : ',readonly'}`
}
