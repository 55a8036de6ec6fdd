// The command line of a sandbox's container, and what every container of ours has.
import { randomInt } from 'node:crypto'
import path from 'node:path'
import type { MountedFolder } from '@sandbridge/core/isolation'
import { CHANNEL_TARGET } from './channel-socket.ts'
import type { Engine } from './probe-engine.ts'

export interface RunOptions {
  engine: Engine
  /** Name of the container; also used to remove it. */
  name: string
  labels: Record<string, string>
  /** Id of an image that the engine has. */
  image: string
  /** Paths that the image declares as volumes. */
  imageVolumes: readonly string[]
  /** `user` or `user:group`. */
  user: string
  memoryBytes: number
  pidsCount: number
  cpus: number | undefined
  ociRuntime: string | undefined
  seccompProfilePath: string
  environment: Record<string, string>
  /** A host folder that cells can see. */
  mount?: MountedFolder | undefined
  /** Cells have `/projects`. */
  projects?: boolean
  /** Path of the socket for its frames; undefined: frames go through the engine. */
  channelPath?: string | undefined
  /** Arguments of python3. */
  pythonArgs: readonly string[]
}

const TMPFS = 'rw,noexec,nosuid,nodev,mode=1777'
/** Folders that cells can write to, all in memory. */
const WRITABLE = { '/tmp': '64m', '/dev/shm': '64m', '/workspace': '128m' }
/** Copies of the files that outlive the session, also in memory. */
const PROJECTS = { '/projects': '64m' }
/**
 * The docker command copies these variables, passwords included, from the user's configuration into every container
 * unless they are set.
 */
export const PROXY_VARIABLES = ['HTTP', 'HTTPS', 'FTP', 'NO', 'ALL'].flatMap((one) => [
  `${one}_PROXY`,
  `${one}_PROXY`.toLowerCase(),
])

/** Arguments of the engine's command, starting with `run`. */
export function runArguments(options: RunOptions): string[] {
  const { engine } = options
  return [
    ...hardenedRun(options),
    '--entrypoint=python3',
    '--network=none',
    '--hostname=sandbox',
    '--cgroupns=private',
    `--user=${userOf(options)}`,
    `--memory=${options.memoryBytes}b`,
    `--memory-swap=${options.memoryBytes}b`,
    `--pids-limit=${options.pidsCount}`,
    ...(options.cpus === undefined ? [] : [`--cpus=${options.cpus}`]),
    ...(options.ociRuntime === undefined ? [] : [`--runtime=${options.ociRuntime}`]),
    // None is the working directory: engines would create it first, with its mode. The first process changes to it.
    ...Object.entries(writable(options)).map(([folder, size]) => `--tmpfs=${folder}:${TMPFS},size=${size}`),
    ...mounts(options).map(mountArgument),
    ...volumeArguments(options),
    ...(engine.enforcesLimits ? [] : uncountedDevices(engine)),
    '--sig-proxy=false',
    ...(engine.dialect === 'podman'
      ? ['--no-hosts']
      : environmentArguments(Object.fromEntries(PROXY_VARIABLES.map((name) => [name, ''])))),
    ...environmentArguments(options.environment),
    options.image,
    ...options.pythonArgs,
  ]
}

/** What sandboxes and containers of servers have alike, starting with `run`. */
export function hardenedRun({
  engine,
  name,
  labels,
  seccompProfilePath,
}: Pick<RunOptions, 'engine' | 'name' | 'labels' | 'seccompProfilePath'>): string[] {
  return [
    'run',
    '--interactive',
    '--rm',
    // Podman's `rm --force` waits for so long, and a bridge that ends does not.
    '--stop-timeout=0',
    '--name',
    name,
    ...Object.entries(labels).flatMap(([key, value]) => ['--label', `${key}=${value}`]),
    // Only the image that was inspected.
    '--pull=never',
    '--no-healthcheck',
    '--ipc=private',
    '--read-only',
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges',
    `--security-opt=seccomp=${seccompProfilePath}`,
    // The output is for the bridge; a log would be an unlimited copy of it on the host's disk.
    '--log-driver=none',
    // By default, podman makes /run and /var/tmp writable and passes the host's proxy variables.
    ...(engine.dialect === 'podman' ? ['--read-only-tmpfs=false', '--http-proxy=false', '--image-volume=ignore'] : []),
  ]
}

function writable({ projects }: RunOptions): Record<string, string> {
  return { ...WRITABLE, ...(projects && PROJECTS) }
}

function mounts({ mount, channelPath }: RunOptions): MountedFolder[] {
  const channel = channelPath && ({ source: channelPath, target: CHANNEL_TARGET, mode: 'ro' } as const)
  return [mount, channel].filter((one) => typeof one === 'object')
}

function mountArgument({ source, target, mode }: MountedFolder): string {
  return `--mount=type=bind,source=${source},target=${target}${mode === 'ro' ? ',readonly' : ''}`
}

/**
 * Replaces each volume that the image declares, which would be a writable folder on the host's disk, with an empty
 * folder, unless a mount of ours is there. If a mount of ours is below it, it cannot be read-only, or the engine could
 * not create the mount point; it then belongs to root, which cells never run as.
 */
function volumeArguments(options: RunOptions): string[] {
  const { imageVolumes } = options
  const ours = [...Object.keys(writable(options)), ...mounts(options).map(({ target }) => target)]
  const volumes = new Set(imageVolumes.map((volume) => path.posix.resolve('/', volume)))
  return [...volumes]
    .filter((volume) => !ours.includes(volume))
    .map((volume) => {
      const isAbove = ours.some((place) => place.startsWith(`${volume}/`))
      return `--tmpfs=${volume}:${isAbove ? 'rw,mode=755' : 'ro'},noexec,nosuid,nodev,size=4k`
    })
}

/**
 * Covers devices whose memory belongs to no process, where the engine does not count it: shared mappings of /dev/zero,
 * and terminals.
 */
function uncountedDevices({ dialect }: Engine): string[] {
  // Podman would mount its own device over a mount.
  const zero =
    dialect === 'podman'
      ? '--security-opt=mask=/dev/zero'
      : '--mount=type=bind,source=/dev/null,target=/dev/zero,readonly'
  return [zero, '--tmpfs=/dev/pts:ro,noexec,nosuid,nodev,size=4k']
}

function environmentArguments(environment: Record<string, string>): string[] {
  return Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`])
}

/**
 * Returns the configured user if the engine counts processes. Otherwise RLIMIT_NPROC limits them per user, so each
 * sandbox gets its own user: a fork bomb in one then does not affect the others.
 */
function userOf({ engine, user }: RunOptions): string {
  const numeric = /^\d+(:.+)?$/.exec(user)
  if (engine.enforcesLimits || !numeric) return user
  return `${randomInt(10_000, 60_000)}${numeric[1] ?? ''}`
}
