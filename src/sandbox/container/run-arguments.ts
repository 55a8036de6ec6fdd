// The command line of one sandbox container: every hardening option is here and nowhere else.
import { randomInt } from 'node:crypto'
import path from 'node:path'
import type { MountedFolder } from '../mounted-folder.ts'
import { DOOR_TARGET } from '../durable/door.ts'
import { CHANNEL_TARGET } from './channel-socket.ts'
import type { Engine } from './probe-engine.ts'

export interface RunOptions {
  engine: Engine
  /** Name of the container; also how it is removed. */
  name: string
  labels: Record<string, string>
  /** Id of an image that is on the engine's machine. */
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
  /** A folder of the host that cells see. */
  mount?: MountedFolder | undefined
  /** Cells have `/projects`. */
  projects?: boolean
  /** The socket that its frames go over; missing where they go through the engine. */
  channelPath?: string | undefined
  /** The folder where it finds bridges, one after the other: it is not ended by the end of the engine's command. */
  door?: string | undefined
  /** Arguments of python3. */
  pythonArgs: readonly string[]
}

const TMPFS = 'rw,noexec,nosuid,nodev,mode=1777'
/** What cells can write to, all of it memory. */
const WRITABLE = { '/tmp': '64m', '/dev/shm': '64m', '/workspace': '128m' }
/** With the files that outlive the session: copies, in memory as well. */
const PROJECTS = { '/projects': '64m' }
/** Variables that the docker command line copies from the user's configuration into every container, passwords included, unless they are given. */
const PROXY_VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'FTP_PROXY', 'NO_PROXY', 'ALL_PROXY']

/** Arguments of the engine's command, beginning with `run`. */
export function runArguments(options: RunOptions): string[] {
  const { engine } = options
  return [
    'run',
    options.door === undefined ? '--interactive' : '--detach',
    '--rm',
    '--name',
    options.name,
    ...Object.entries(options.labels).flatMap(([key, value]) => ['--label', `${key}=${value}`]),
    // Never another image than the one that was looked at, and nothing of what it brings along.
    '--pull=never',
    '--entrypoint=python3',
    '--no-healthcheck',
    '--network=none',
    '--hostname=sandbox',
    '--ipc=private',
    '--cgroupns=private',
    '--read-only',
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges',
    `--security-opt=seccomp=${options.seccompProfilePath}`,
    `--user=${userOf(options)}`,
    `--memory=${options.memoryBytes}b`,
    `--memory-swap=${options.memoryBytes}b`,
    `--pids-limit=${options.pidsCount}`,
    ...(options.cpus === undefined ? [] : [`--cpus=${options.cpus}`]),
    ...(options.ociRuntime === undefined ? [] : [`--runtime=${options.ociRuntime}`]),
    // None is the working directory: engines would make that folder first, and its mode would win over this one. The first process goes there.
    ...Object.entries(writable(options)).map(([folder, size]) => `--tmpfs=${folder}:${TMPFS},size=${size}`),
    ...mounts(options).map(mountArgument),
    ...volumeArguments(options),
    ...(engine.enforcesLimits ? [] : uncountedDevices(engine)),
    // What the sandbox prints is frames for the bridge; a log would be a copy of it on the host's disk, without a limit.
    '--log-driver=none',
    '--sig-proxy=false',
    ...(engine.dialect === 'podman' ? podmanOnly() : dockerOnly()),
    ...environmentArguments(options.environment),
    options.image,
    ...options.pythonArgs,
  ]
}

function writable({ projects }: RunOptions): Record<string, string> {
  return { ...WRITABLE, ...(projects && PROJECTS) }
}

function mounts({ mount, channelPath, door }: RunOptions): MountedFolder[] {
  const readOnly = (source: string | undefined, target: string): MountedFolder | undefined =>
    source === undefined ? undefined : { source, target, mode: 'ro' }
  return [mount, readOnly(channelPath, CHANNEL_TARGET), readOnly(door, DOOR_TARGET)].filter((one) => one !== undefined)
}

function mountArgument({ source, target, mode }: MountedFolder): string {
  return `--mount=type=bind,source=${source},target=${target}${mode === 'ro' ? ',readonly' : ''}`
}

/**
 * A volume that the image declares would be a writable directory on the host's disk: an empty folder takes its place, unless something
 * of ours is there already. One that something of ours is below cannot be read-only, or the engine could not make the place for it;
 * it is root's, and cells never are.
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

/** Devices that hold memory which belongs to no process, covered where the engine does not count it: shared mappings of /dev/zero, terminals. */
function uncountedDevices({ dialect }: Engine): string[] {
  // Podman would put its own device over a mount.
  const zero =
    dialect === 'podman'
      ? '--security-opt=mask=/dev/zero'
      : '--mount=type=bind,source=/dev/null,target=/dev/zero,readonly'
  return [zero, '--tmpfs=/dev/pts:ro,noexec,nosuid,nodev,size=4k']
}

function podmanOnly(): string[] {
  return [
    // Podman would make /run and /var/tmp writable, and pass the host's proxy variables.
    '--read-only-tmpfs=false',
    '--http-proxy=false',
    '--image-volume=ignore',
    '--no-hosts',
  ]
}

function dockerOnly(): string[] {
  return environmentArguments(
    Object.fromEntries(PROXY_VARIABLES.flatMap((name) => [name, name.toLowerCase()]).map((name) => [name, ''])),
  )
}

function environmentArguments(environment: Record<string, string>): string[] {
  return Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`])
}

/**
 * Where the engine counts processes, the user that is set. Where it cannot, processes are limited by RLIMIT_NPROC, which counts by user:
 * then each sandbox gets a user of its own, so that a fork bomb in one leaves the others alone.
 */
function userOf({ engine, user }: RunOptions): string {
  const numeric = /^\d+(:.+)?$/.exec(user)
  if (engine.enforcesLimits || !numeric) return user
  return `${randomInt(10_000, 60_000)}${numeric[1] ?? ''}`
}
