// Finds the sandbox providers of this machine, each with a verdict in words, and chooses for `auto`. Runs at first use:
// an engine takes a moment to answer. Loads only the chosen provider.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { BridgeError, messageOf } from '../../errors.ts'
import type { Settings } from '../../config/settings/settings.ts'
import type { Log } from '../../util/log.ts'
import { shortFolder } from '../../util/net/unix-socket.ts'
import { bubblewrap } from '../bubblewrap-part.ts'
import { containers, type EngineName } from '../container-part.ts'
import { DEFAULT_IMAGE, isImagePath } from '../image-name.ts'
import { images } from '../images-part.ts'
import { kubernetes } from '../kubernetes-part.ts'
import { findBubblewrapPrograms } from '../local/find-bubblewrap.ts'
import { type MountedFolder, resolveMount } from '../local/mounted-folder.ts'
import { pythonPackages } from '../packages-part.ts'
import type { Candidate, Provider, ProviderName } from '../provider.ts'
import type { Choice, KeptChoice, PassedOver, RememberedChoice } from './remembered-choice.ts'

/** The provider in use. */
export interface FoundProvider {
  provider: Provider
  /** Providers that `auto` prefers but could not use, with reasons. */
  passedOver: PassedOver[]
}

/** @param inBackground the bridge's exit does not wait for it */
type Probe = (inBackground?: boolean) => Promise<Candidate>

const AS_PODS = 'MCP_BRIDGE_RUNTIME=kubernetes'
const EMBEDDED = 'the embedded sandbox, which needs only Node.js'

type Wanted = Pick<Settings, 'image' | 'runtime' | 'cacheDir'>

/**
 * Returns the probes, in the order in which `auto` tries them. A cluster is used only on request.
 * @param isThorough ask engines for the image, which they need, and retry what worked in an earlier start
 */
function probesFor(settings: Wanted, isThorough: boolean): Probe[] {
  const engine = (name: EngineName) => (inBackground?: boolean) => probeEngine(name, settings, isThorough, inBackground)
  return [
    engine('podman'),
    engine('docker'),
    () => probeBubblewrap(settings, isThorough),
    async () => ({ name: 'pyodide', usable: true, verdict: isThorough ? `${EMBEDDED}; ${outerWall()}` : EMBEDDED }),
  ]
}

function outerWall(): string {
  const found = findBubblewrapPrograms()
  return typeof found === 'string' ? `it has no outer wall here: ${found}` : 'bubblewrap is its outer wall'
}

async function probeEngine(
  name: EngineName,
  { image }: Wanted,
  isThorough: boolean,
  inBackground?: boolean,
): Promise<Candidate> {
  if (!containers.isHere) return { name, usable: false, verdict: `${name} is not in this build` }
  if (image !== undefined && isImagePath(image))
    return { name, usable: false, verdict: 'MCP_BRIDGE_IMAGE is a folder or an archive, which only bubblewrap can use' }
  const { probe } = await containers.for(name)
  return probe(name, isThorough ? (image ?? DEFAULT_IMAGE) : undefined, inBackground)
}

async function probeBubblewrap(settings: Wanted, isThorough: boolean): Promise<Candidate> {
  const name = 'bubblewrap'
  if (!bubblewrap.isHere) return { name, usable: false, verdict: 'bubblewrap is not in this build' }
  const { describe } = await bubblewrap.for(name)
  return { name, ...(await describe(await imageInBubblewrap(settings), isThorough ? undefined : settings.cacheDir)) }
}

/**
 * Returns the image for bubblewrap; undefined: this machine's Python. `auto` uses a named image only if it is already
 * unpacked, since it reaches bubblewrap when no engine is usable.
 */
async function imageInBubblewrap({ image, runtime, cacheDir }: Wanted): Promise<string | undefined> {
  if (image === undefined || runtime !== 'auto' || isImagePath(image)) return image
  if (!images.isHere) return undefined
  const { isUnpacked } = await images.for('MCP_BRIDGE_IMAGE')
  return (await isUnpacked(image, cacheDir)) ? image : undefined
}

/** Returns every provider with its verdict, in the order of `auto`. Everything it starts ends again. */
export function probeProviders(settings: Wanted & Partial<Settings>): Promise<Candidate[]> {
  return Promise.all(
    [...probesFor(settings, true), ...(settings.runtime === 'kubernetes' ? [() => probeCluster(settings)] : [])].map(
      (probe) => probe(),
    ),
  )
}

/** Asks the cluster without creating anything. */
async function probeCluster(settings: Partial<Settings>): Promise<Candidate> {
  const { kubernetesContext: context, kubernetesNamespace: namespace, kubernetesWarmPool: warmPool } = settings
  const needs = { hasServers: settings.upstreams === 'pods', isDurable: settings.session === 'durable' }
  const { describeCluster } = await kubernetes.for(AS_PODS)
  return { name: 'kubernetes', ...(await describeCluster({ context, namespace, warmPool, ...needs })) }
}

/**
 * Returns the provider for the settings. A named provider is not checked: `prepare` reports why it does not work.
 * @param onProgress called with progress of the preparation
 * @param memory remembers what `auto` takes between starts; missing means that the engines are always asked
 * @param probes replaced in tests, to simulate other machines
 */
export async function findProvider(
  settings: Settings,
  log: Log,
  onProgress: (message: string) => void = () => {},
  memory?: RememberedChoice,
  probes: Iterable<Probe> = probesFor(settings, false),
): Promise<FoundProvider> {
  const { stateDir, cacheDir } = settings
  // Those in use: every machine has a folder for temporary files, and few have these in it.
  const sockets = [shortFolder()].filter((folder) => existsSync(folder))
  const mount = settings.mount && (await resolveMount(settings.mount, [stateDir, cacheDir, ...sockets]))
  if (settings.runtime !== 'auto')
    return { provider: await createProvider(settings.runtime, settings, mount, log), passedOver: [] }
  const remembered = memory?.read()
  if (memory && remembered) {
    try {
      const provider = await createProvider(remembered.name, settings, mount, log)
      if (remembered.name !== 'pyodide') await provider.prepare(onProgress)
      log.info('Sandbox provider remembered', { provider: remembered.name, verdict: remembered.verdict })
      check(memory, remembered, probes).catch(() => {})
      return { provider, passedOver: remembered.passedOver }
    } catch {
      memory.forget()
    }
  }
  let candidates = [...probes].map((probe) => probe())
  const refused: ProviderName[] = []
  for (;;) {
    const choice = await firstUsable(candidates)
    const { name, verdict, passedOver } = choice
    const provider = await createProvider(name, settings, mount, log)
    try {
      // `auto` skips an engine that has no image and cannot pull one.
      if (name !== 'pyodide') await provider.prepare(onProgress)
      log.info('Sandbox provider selected', { provider: name, verdict, passedOver })
      await memory?.keep({ ...choice, refused })
      return { provider, passedOver }
    } catch (error) {
      refused.push(name)
      candidates = candidates.map((probe) => probe.then((one) => (one.name === name ? unprepared(one, error) : one)))
    }
  }
}

/** Lets the next start ask again, when `auto` would take another provider by now. This start keeps what it has. */
async function check(memory: RememberedChoice, { name, refused }: KeptChoice, probes: Iterable<Probe>): Promise<void> {
  const candidates = [...probes].map(async (probe) => {
    const candidate = await probe(true)
    return refused.includes(candidate.name) ? { ...candidate, usable: false, asleep: false } : candidate
  })
  if ((await firstUsable(candidates)).name !== name) memory.forget()
}

function unprepared({ name }: Candidate, error: unknown): Candidate {
  return { name, usable: false, verdict: messageOf(error) }
}

/**
 * Returns the first running and usable provider, a rootless engine before a rootful one. Otherwise one that must be
 * started first, but only if nothing else isolates as well.
 */
export async function firstUsable(probes: readonly Promise<Candidate>[]): Promise<Choice> {
  const passedOver: PassedOver[] = []
  let asleep: Candidate | undefined
  let rootful: Candidate | undefined
  for (const probe of probes) {
    const candidate = await probe
    const { name, usable, verdict } = candidate
    const isEngine = name === 'podman' || name === 'docker'
    // No rootless engine can follow.
    if (rootful && !isEngine) break
    if (usable && candidate.rootful) rootful ??= candidate
    else if (usable && !(name === 'pyodide' && asleep)) return { name, verdict, passedOver }
    if (candidate.asleep) asleep ??= candidate
    passedOver.push({ name, verdict: candidate.rootful ? `${verdict}; a rootless engine is preferred` : verdict })
  }
  const chosen = rootful ?? asleep ?? { name: 'pyodide', verdict: 'no other sandbox is usable' }
  const before = passedOver.findIndex(({ name }) => name === chosen.name)
  return {
    name: chosen.name,
    verdict: chosen.verdict,
    // The rootful engine was chosen because no later candidate is better.
    passedOver: rootful ? passedOver.slice(0, before) : passedOver.filter(({ name }) => name !== chosen.name),
  }
}

async function createProvider(
  name: ProviderName,
  settings: Settings,
  mount: MountedFolder | undefined,
  log: Log,
): Promise<Provider> {
  const { packages, projects, forkServer } = settings
  if (name === 'pyodide') {
    if (mount) {
      throw new BridgeError('CONFIG_INVALID', 'The embedded sandbox does not support MCP_BRIDGE_MOUNT', {
        hint: 'Unset MCP_BRIDGE_MOUNT, or use podman, docker or bubblewrap.',
      })
    }
    const { PyodideProvider } = await import('../pyodide/provider.ts')
    const cacheFolder = pyodideFolder(settings)
    if (packages.length === 0) return new PyodideProvider({ cacheFolder })
    const { packageFiles } = await pythonPackages.for('MCP_BRIDGE_PACKAGES')
    return new PyodideProvider({
      cacheFolder,
      packages: (onProgress) => packageFiles(packages, cacheFolder, settings.pyodideUrl, onProgress),
    })
  }
  if (name === 'kubernetes') return createKubernetes(settings, mount)
  if (name === 'bubblewrap') {
    const { createProvider: create } = await bubblewrap.for('MCP_BRIDGE_RUNTIME=bubblewrap')
    const image = await imageInBubblewrap(settings)
    return create({
      pidsCount: settings.pidsCount,
      image,
      // The fork server also sets up the isolation. An image does that only on the user's request.
      forks: forkServer === 'on' || (forkServer === 'auto' && image === undefined),
      onNotForked: (reason) =>
        log.warning('A sandbox was not forked, but started with a Python of its own', { reason }),
      mount,
      projects,
      node: settings.languages.includes('javascript'),
      packages,
      cacheDir: settings.cacheDir,
    })
  }
  if (settings.image !== undefined && isImagePath(settings.image)) {
    throw new BridgeError('CONFIG_INVALID', `${name} cannot use a folder or an archive: ${settings.image}`, {
      hint: `Set MCP_BRIDGE_RUNTIME=bubblewrap, or give an archive to \`${name} load\` and set MCP_BRIDGE_IMAGE to the name it says.`,
    })
  }
  const { createProvider: create } = await containers.for(`MCP_BRIDGE_RUNTIME=${name}`)
  const { image = DEFAULT_IMAGE, containerUser: user, pidsCount, cpus, ociRuntime, cacheDir } = settings
  const limits = { pidsCount, cpus, ociRuntime }
  return create(name, { image, user, ...limits, mount, projects, packages, cacheDir })
}

/** How long a durable pod waits for the next bridge. */
const KEPT_S = 3600

async function createKubernetes(settings: Settings, mount: MountedFolder | undefined): Promise<Provider> {
  const { image = DEFAULT_IMAGE, packages, projects, pidsCount, cpus } = settings
  const { createProvider: createPods } = await kubernetes.for(AS_PODS)
  const options = {
    image,
    packages,
    user: settings.containerUser,
    pidsCount,
    cpus,
    runtimeClass: settings.ociRuntime,
    projects,
    context: settings.kubernetesContext,
    namespace: settings.kubernetesNamespace,
    warmPool: settings.kubernetesWarmPool,
    seccompProfile: settings.kubernetesSeccomp,
    checksNetwork: settings.kubernetesNetwork === 'checked',
    startTimeoutMs: settings.kubernetesStartMs,
    keepSeconds: settings.session === 'durable' ? KEPT_S : undefined,
  }
  return createPods(options, mount)
}

const pyodideFolder = ({ cacheDir }: Pick<Settings, 'cacheDir'>): string => path.join(cacheDir, 'pyodide')

/** Returns the folder of the embedded sandbox's snapshot if it exists and is damaged. */
export async function findDamagedSnapshot(settings: Pick<Settings, 'cacheDir'>): Promise<string | undefined> {
  const { PyodideProvider } = await import('../pyodide/provider.ts')
  return new PyodideProvider({ cacheFolder: pyodideFolder(settings) }).findDamagedSnapshot()
}
