import { expect, it } from 'vitest'
import type { Engine } from './probe-engine.ts'
import { runArguments } from './run-arguments.ts'
import type { RunOptions } from './run-arguments.ts'

const able = { isLocal: true, enforcesLimits: true, enforcesCpus: true }
const podman: Engine = { command: 'podman', dialect: 'podman', version: '5', rootless: true, ...able }
const docker: Engine = { command: 'docker', dialect: 'docker', version: '28', rootless: false, ...able }

function argumentsFor(options: Partial<RunOptions> = {}): string[] {
  return runArguments({
    engine: docker,
    name: 'sandbridge-1-2-3',
    labels: { 'sandbridge.bridge': '1' },
    image: 'sha256:abc',
    imageVolumes: [],
    user: '65534:65534',
    memoryBytes: 512 << 20,
    pidsCount: 128,
    cpus: undefined,
    ociRuntime: undefined,
    seccompProfilePath: '/tmp/profile.json',
    environment: { HOME: '/workspace' },
    pythonArgs: ['-I', '-c', 'pass'],
    ...options,
  })
}

it.each(
  `--network=none --read-only --cap-drop=ALL --security-opt=no-new-privileges --pull=never
   --security-opt=seccomp=/tmp/profile.json --user=65534:65534 --pids-limit=128 --log-driver=none
   --memory=536870912b --memory-swap=536870912b --ipc=private --rm --interactive --entrypoint=python3`.split(/\s+/),
)('every container has %s', (option) => {
  expect(argumentsFor({ engine: podman })).toContain(option)
  expect(argumentsFor({ engine: docker })).toContain(option)
})

it('the arguments after the image are for python3', () => {
  expect(argumentsFor().slice(-4)).toEqual(['sha256:abc', '-I', '-c', 'pass'])
})

it('a container mounts no folder of the host by default', () => {
  for (const engine of [podman, docker]) {
    expect(
      argumentsFor({ engine }).filter((argument) => /^(-v|--volume|--mount|--device|--privileged)/.test(argument)),
    ).toEqual([])
  }
})

it('every tmpfs of a container has a size and noexec, nosuid, nodev', () => {
  const tmpfs = argumentsFor({ imageVolumes: ['/data'] }).filter((argument) => argument.startsWith('--tmpfs'))
  expect(tmpfs).toHaveLength(4)
  for (const option of tmpfs) expect(option).toMatch(/noexec,nosuid,nodev.*size=/)
})

it('a volume that the image declares is read-only', () => {
  expect(argumentsFor({ imageVolumes: ['/data'] })).toContain('--tmpfs=/data:ro,noexec,nosuid,nodev,size=4k')
})

it('a volume of the image never covers a mount of the bridge, and one above it leaves room for the mount', () => {
  const imageVolumes = [
    '/tmp/',
    '/workspace',
    '/dev/shm',
    '/tmp/data',
    '/mnt',
    '/mnt/notes',
    '/mnt/notes/x',
    '/data',
    '/data/',
  ]
  const mount = { source: '/home/me/notes', target: '/mnt/notes', mode: 'ro' } as const
  const tmpfs = argumentsFor({ imageVolumes, mount }).filter((argument) => argument.startsWith('--tmpfs='))
  expect(tmpfs.map((argument) => argument.replace(/^--tmpfs=(.*?):(r.)(,mode=755)?,.*$/, '$1 $2$3'))).toEqual([
    '/tmp rw',
    '/dev/shm rw',
    '/workspace rw',
    '/tmp/data ro',
    '/mnt rw,mode=755',
    '/mnt/notes/x ro',
    '/data ro',
  ])
})

it('the socket for frames is the only file of the host in a container, read-only, also below a volume of the image', () => {
  const args = argumentsFor({ channelPath: '/tmp/sandbridge-x/channel', imageVolumes: ['/run'] })
  expect(args.filter((argument) => argument.startsWith('--mount'))).toEqual([
    '--mount=type=bind,source=/tmp/sandbridge-x/channel,target=/run/sandbridge.sock,readonly',
  ])
  expect(args).toContain('--tmpfs=/run:rw,mode=755,noexec,nosuid,nodev,size=4k')
})

it('podman gets no writable /run and /var/tmp, and none of the host’s proxies', () => {
  const args = argumentsFor({ engine: podman })
  expect(args).toEqual(
    expect.arrayContaining(['--read-only-tmpfs=false', '--http-proxy=false', '--image-volume=ignore']),
  )
})

it('docker’s configured proxies, which may hold passwords, are overwritten', () => {
  expect(argumentsFor({ engine: docker })).toEqual(
    expect.arrayContaining(['HTTP_PROXY=', 'https_proxy=', 'ALL_PROXY=']),
  )
})

it('a CPU limit and another runtime are passed on when they are set', () => {
  expect(argumentsFor().join(' ')).not.toMatch(/--cpus|--runtime/)
  expect(argumentsFor({ cpus: 1.5, ociRuntime: 'runsc' })).toEqual(
    expect.arrayContaining(['--cpus=1.5', '--runtime=runsc']),
  )
})

it('every sandbox has a user of its own where the engine cannot count processes', () => {
  const engine = { ...podman, enforcesLimits: false }
  const user = () => argumentsFor({ engine }).find((argument) => argument.startsWith('--user='))!
  const users = new Set(Array.from({ length: 20 }, user))
  expect(users.size).toBeGreaterThan(10)
  for (const each of users) expect(each).toMatch(/^--user=[1-5]\d{4}:65534$/)
  expect(argumentsFor({ engine, user: 'nobody' })).toContain('--user=nobody')
})

it('devices with uncounted memory are covered where the engine does not count it', () => {
  const covering = (engine: typeof podman) => argumentsFor({ engine }).filter((word) => /\/dev\/(zero|pts)/.test(word))
  const pts = '--tmpfs=/dev/pts:ro,noexec,nosuid,nodev,size=4k'
  expect(covering(podman)).toEqual([])
  expect(covering({ ...podman, enforcesLimits: false })).toEqual(['--security-opt=mask=/dev/zero', pts])
  expect(covering({ ...docker, enforcesLimits: false })).toEqual([
    '--mount=type=bind,source=/dev/null,target=/dev/zero,readonly',
    pts,
  ])
})
