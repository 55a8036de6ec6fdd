// Finds what makes jails on this machine: bubblewrap, or a container of podman or docker. Probed on first use, once.
import { randomBytes } from 'node:crypto'
import { chmod, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findImage } from '@sandbridge/containers/image.ts'
import { newContainerName, ownerLabels, removeLeftovers } from '@sandbridge/containers/owner.ts'
import type { EngineName, JailMakerName } from '@sandbridge/core/parts'
import { type Engine, probeEngine } from '@sandbridge/containers/probe-engine.ts'
import { folderFor } from '@sandbridge/containers/seccomp-file.ts'
import { makeTemporaryFolder } from '@sandbridge/core/isolation'
import { runCommand } from '@sandbridge/core/util/process'
import { type BubblewrapJail, findBubblewrapJail } from './jails/bubblewrap-jail.ts'
import { type ContainerJail, containerArguments } from './jails/container-jail.ts'
import { makeNothing } from './places/nothing.ts'
import { ensureRootImage, rootFolders } from './places/host-root.ts'

export type JailMaker =
  | { name: 'bubblewrap'; bubblewrap: BubblewrapJail }
  | { name: EngineName; container: ContainerJail }

const NAMES: readonly JailMakerName[] = ['bubblewrap', 'podman', 'docker']
const PROBE_TIMEOUT_MS = 60_000

const found = new Map<string, Promise<JailMaker | string>>()

/**
 * Returns what makes a jail, or why nothing does. Tries bubblewrap, then podman and docker. Starts short-lived
 * processes and containers.
 * @param image of the server; it then runs in a container. Images are not pulled.
 * @param names replaced in tests, for machines that a test cannot have
 */
export async function findJailMaker(
  image?: string,
  names: readonly JailMakerName[] = NAMES,
): Promise<JailMaker | string> {
  const reasons: string[] = []
  for (const name of names) {
    if (name === 'bubblewrap' && image !== undefined) continue
    const key = `${name} ${image ?? ''}`
    let maker = found.get(key)
    if (!maker) found.set(key, (maker = probe(name, image)))
    const made = await maker
    if (typeof made !== 'string') return made
    // An engine may be started, and an image pulled, while the bridge runs.
    if (name !== 'bubblewrap') found.delete(key)
    reasons.push(made)
  }
  return reasons.join('; ')
}

async function probe(name: JailMakerName, image: string | undefined): Promise<JailMaker | string> {
  if (name === 'bubblewrap') {
    const bubblewrap = await findBubblewrapJail()
    return typeof bubblewrap === 'string' ? bubblewrap : { name, bubblewrap }
  }
  // The watchdog of its containers is a shell, and Windows paths mean nothing inside a container.
  if (process.platform === 'win32') return `${name} makes no jails on Windows, only inside WSL`
  const { engine, verdict } = await probeEngine(name)
  if (!engine) return verdict
  void removeLeftovers(engine).catch(() => {})
  const container = image === undefined ? await withOwnPrograms(engine) : await withImage(engine, image)
  return typeof container === 'string' ? container : { name, container }
}

async function withImage(engine: Engine, image: string): Promise<ContainerJail | string> {
  const state = await findImage(engine, image)
  if (state === 'here') return { engine, image }
  const command = `${engine.command} pull ${image}`
  return `${engine.command} has no image ${image}${state === 'pullable' ? `; run \`${command}\`` : ''}`
}

/**
 * Checks whether a container can run programs of this machine: it must print the word in a file that the bridge mounts.
 */
async function withOwnPrograms(engine: Engine): Promise<ContainerJail | string> {
  if (process.platform !== 'linux')
    return `${engine.command} needs an image with programs for Linux: set \`sandbox.image\` or the setting servers.jailImage`
  const root = await rootFolders()
  const made = await ensureRootImage(engine, root)
  if ('reason' in made) return made.reason
  const jail = { engine, image: made.image, root }
  const folder = await makeTemporaryFolder(folderFor(engine.command))
  try {
    await chmod(folder, 0o755)
    const word = randomBytes(8).toString('hex')
    await writeFile(path.join(folder, 'word'), word)
    const name = newContainerName()
    const options = {
      name,
      labels: ownerLabels(name),
      home: { source: folder, target: '/home/nobody' },
      mounts: [],
      submounts: [],
      proxySocket: undefined,
      nothing: await makeNothing(folder),
      network: false,
      cwd: '/',
      environment: {},
    }
    const args = containerArguments(jail, options, ['/bin/sh', '-c', 'cat /home/nobody/word'])
    const { stdout, stderr } = await runCommand(engine.command, args, { timeoutMs: PROBE_TIMEOUT_MS })
    return stdout === word ? jail : `${engine.command} cannot run programs of this machine: ${stderr || 'no output'}`
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
