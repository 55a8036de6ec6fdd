// A jail out of a container: no capabilities, our filter of system calls, the root read-only, and of the machine what the view shows.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { BridgeError } from '../../../errors.ts'
import { enginePath, type Engine } from '../../../sandbox/container/probe-engine.ts'
import { profileFile } from '../../../sandbox/container/seccomp-file.ts'
import { refusingProfile } from '../../../sandbox/container/seccomp-profile.ts'
import { INNER_SOCKET, SHOWN_AGAIN, UNPRIVILEGED_UID } from './bubblewrap-jail.ts'
import type { RootFolders } from './host-root.ts'
import { REFUSED_SYSCALLS, RULED_SERVER_SYSCALLS } from './server-syscalls.ts'
import { type Mount, HIDDEN_ROOTS } from './view.ts'

export interface ContainerJail {
  engine: Engine
  image: string
  /** The machine's own folders, for an image that is empty; missing when the image has programs of its own. */
  root?: RootFolders | undefined
}

export interface ContainerOptions {
  name: string
  labels: Record<string, string>
  home: { source: string; target: string }
  mounts: readonly Mount[]
  /** Where something is mounted on this machine: a read-only folder that holds one does not make it read-only. */
  submounts: readonly string[]
  /** The Unix socket of the filtering proxy. */
  proxySocket: string | undefined
  /** An empty folder and a file without rights, for what is hidden. */
  nothing: { folder: string; file: string }
  network: boolean
  cwd: string
  /** With its values, which only the environment of the engine's command holds. */
  environment: Readonly<Record<string, string>>
}

/** As bubblewrap makes them: memory, without a limit of their own. */
const TMPFS = 'rw,exec,nosuid,nodev,mode=1777'
/** The engine's command reads these by itself: a server's values for them are given to the server alone. None of them is a secret. */
const ENGINE_VARIABLES =
  /^(?:PATH|HOME|TMPDIR|LD_\w+|XDG_\w+|DBUS_\w+|GODEBUG|_?CONTAINERS?_\w+|DOCKER_(?:HOST|CONTEXT|CONFIG|CERT_PATH|TLS\w*|API_VERSION))$/
/** An engine passes all variables that begin like a name with a star behind it. */
const VARIABLE = /^[A-Za-z_][\w.-]*$/
/** What the docker command copies from the user's configuration into every container, passwords included, unless it is given. */
const PROXY_VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'FTP_PROXY', 'NO_PROXY', 'ALL_PROXY']

/** Arguments of the engine's command, beginning with `run`. @throws BridgeError CONFIG_INVALID for a path that no engine can mount */
export function containerArguments(
  jail: ContainerJail,
  options: ContainerOptions,
  command: readonly string[],
): string[] {
  const { engine, image, root } = jail
  const [program = '', ...args] = command
  return [
    'run',
    '--interactive',
    '--rm',
    `--name=${options.name}`,
    ...Object.entries(options.labels).flatMap(([key, value]) => ['--label', `${key}=${value}`]),
    '--pull=never',
    '--no-healthcheck',
    '--ipc=private',
    '--read-only',
    '--cap-drop=ALL',
    '--log-driver=none',
    '--security-opt=no-new-privileges',
    // SELinux would refuse what is mounted, and relabelling it would change the machine's own files.
    '--security-opt=label=disable',
    `--security-opt=seccomp=${enginePath(serverProfile(), engine)}`,
    ...userArguments(engine),
    `--network=${options.network ? 'host' : 'none'}`,
    ...(engine.dialect === 'podman'
      ? [
          '--read-only-tmpfs=false',
          '--http-proxy=false',
          '--image-volume=ignore',
          ...(options.network ? [] : ['--no-hosts']),
        ]
      : []),
    ...(root ? ['/tmp', '/var'] : ['/tmp', '/var/tmp']).map((folder) => `--tmpfs=${folder}:${TMPFS}`),
    ...allMounts(root, options).map((mount) => mountArgument(mount, options.nothing)),
    `--workdir=${options.cwd}`,
    ...variableArguments(engine, options.environment),
    `--entrypoint=${program}`,
    image,
    ...args,
  ]
}

/** The environment of the engine's own command: what it needs, and what it hands on. */
export function engineEnvironment(environment: Readonly<Record<string, string>>): Record<string, string> {
  const handed = Object.entries(environment).filter(([name]) => !ENGINE_VARIABLES.test(name))
  const own = Object.entries(process.env).filter((one): one is [string, string] => one[1] !== undefined)
  return Object.fromEntries([...own, ...handed])
}

function variableArguments({ dialect }: Engine, environment: Readonly<Record<string, string>>): string[] {
  const given = Object.entries(environment).filter(([name]) => VARIABLE.test(name))
  const copied = dialect === 'docker' ? PROXY_VARIABLES.flatMap((name) => [name, name.toLowerCase()]) : []
  return [
    ...copied.filter((name) => !Object.hasOwn(environment, name)).map((name) => `${name}=`),
    ...given.map(([name, value]) => (ENGINE_VARIABLES.test(name) ? `${name}=${value}` : name)),
  ].flatMap((variable) => ['--env', variable])
}

/** Files that the server makes belong to the user of the bridge. Root's servers become another user. */
function userArguments({ dialect, rootless }: Engine): string[] {
  if (rootless) return dialect === 'podman' ? ['--userns=keep-id'] : ['--user=0:0']
  const uid = process.getuid?.() ?? 1000
  const gid = process.getgid?.() ?? 1000
  return [uid === 0 ? `--user=${UNPRIVILEGED_UID}:${UNPRIVILEGED_UID}` : `--user=${uid}:${gid}`]
}

function serverProfile(): string {
  return profileFile('seccomp-servers.json', () => refusingProfile(REFUSED_SYSCALLS, RULED_SERVER_SYSCALLS))
}

/** Everything that is put in place, each target once: engines order them by themselves. */
function allMounts(root: RootFolders | undefined, options: ContainerOptions): Mount[] {
  const { home, mounts, submounts, proxySocket } = options
  const read = (place: string): Mount => ({ kind: 'read', source: place, target: place })
  const shown = root ? [...root.folders, ...SHOWN_AGAIN.filter((place) => existsSync(place))].map(read) : []
  const others = mounts.filter(({ kind }) => kind !== 'read')
  // What the root shows already is not shown once more.
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
  return [...byTarget.values()]
}

const isShown = ({ source, target }: Mount): boolean =>
  [source, target].every((place) => !HIDDEN_ROOTS.has(place.split('/')[1] ?? ''))

const isBelow = ({ target }: Mount, place: string): boolean => place === target || place.startsWith(`${target}/`)

function mountArgument({ kind, source, target }: Mount, nothing: ContainerOptions['nothing']): string {
  const from = kind === 'hide-folder' ? nothing.folder : kind === 'hide-file' ? nothing.file : source
  // Engines separate the parts of a mount with commas.
  const odd = [from, target].find((place) => /[,"\n]/.test(place))
  if (odd !== undefined) {
    throw new BridgeError(
      'CONFIG_INVALID',
      `${odd} has a comma, a quotation mark or a line break: no container can show it.`,
      {
        hint: 'Rename it, or install bubblewrap.',
      },
    )
  }
  return `--mount=type=bind,source=${from},target=${target}${kind === 'write' ? '' : ',readonly'}`
}
