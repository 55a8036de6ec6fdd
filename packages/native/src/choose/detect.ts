// Finds the providers of this machine, each with a verdict in words, and chooses for `auto`. Loads only the chosen.
import { existsSync } from 'node:fs'
import type { Settings } from '@sandbridge/core/config/settings'
import { BridgeError, messageOf, shortageHint } from '@sandbridge/core/errors.ts'
import type { Candidate, ProviderName } from '@sandbridge/core/isolation'
import { type FoundProvider, type PassedOver, probeEmbedded } from '@sandbridge/core/isolation/detect'
import { AS_PODS, containers, type EngineName, kubernetes } from '@sandbridge/core/parts'
import type { Log } from '@sandbridge/core/util'
import { shortFolder } from '@sandbridge/core/util/net'
import { lastLine, oneLine } from '@sandbridge/core/util/text'
import { bubblewrap } from './bubblewrap-part.ts'
import { createProvider, imageInBubblewrap } from './create-provider.ts'
import { DEFAULT_IMAGE, isImagePath } from './image-name.ts'
import { resolveMount } from './mounted-folder.ts'
import type { Choice, FailedTrials, KeptChoice, RememberedChoice } from './remembered-choice.ts'

/** @param inBackground the bridge's exit does not wait for it */
type Probe = (inBackground?: boolean) => Promise<Candidate>

const MAX_REASON_CHARS = 400

type Wanted = Pick<Settings, 'image' | 'runtime' | 'cacheDir'> & Partial<Pick<Settings, 'hostPackages'>>

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
    () => probeEmbedded(settings, isThorough),
  ]
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
  const image = await imageInBubblewrap(settings)
  const isReady = image === undefined || (settings.runtime === 'auto' && !isImagePath(image))
  const { cacheDir, hostPackages = false } = settings
  return { name, isReady, ...(await describe(image, isThorough ? undefined : cacheDir, hostPackages)) }
}

/**
 * Returns every provider with its verdict, in the order of `auto`. Everything it starts ends again.
 * @param tryOut starts a sandbox of a provider that seems usable and is ready for that; missing: none is started
 */
export function probeProviders(
  settings: Wanted & Partial<Settings>,
  tryOut?: (name: ProviderName) => Promise<unknown>,
): Promise<Candidate[]> {
  return Promise.all(
    [...probesFor(settings, true), ...(settings.runtime === 'kubernetes' ? [() => probeCluster(settings)] : [])].map(
      async (probe) => {
        const candidate = await probe()
        if (!tryOut || !candidate.usable || !candidate.isReady) return candidate
        return tryOut(candidate.name).then(
          () => candidate,
          (error: unknown) => refused(candidate, whyNot(candidate.name, error)),
        )
      },
    ),
  )
}

/** Why it starts no sandbox, in words that name it: one sentence without a period. */
export function whyNot(name: ProviderName, error: unknown): string {
  const said = errorOf(messageOf(error).replace(/^The sandbox did not start: /, ''))
  const hint = shortageHint(said)
  const text = `${oneLine(said, MAX_REASON_CHARS)}${hint ? `. ${hint}` : ''}`.replace(/\.$/, '')
  return text.includes(name) ? text : `${name}: ${text}`
}

/** A traceback, or the end of one, is told by its error, which is its last line: the rest would take its place. */
function errorOf(text: string): string {
  if (!/^ {2}File "/m.test(text)) return text
  const at = text.indexOf('Traceback (most recent call last):')
  return `${at === -1 ? '' : text.slice(0, at)}${lastLine(text)}`
}

/** Its sandboxes do not start. */
function refused({ name, verdict }: Candidate, reason: string): Candidate {
  return { name, usable: false, verdict: `${verdict}; but ${reason}` }
}

/** Asks the cluster without creating anything. */
async function probeCluster(settings: Partial<Settings>): Promise<Candidate> {
  const { kubernetesContext: context, kubernetesNamespace: namespace } = settings
  const needs = { hasServers: settings.upstreams === 'pods', isDurable: settings.session === 'durable' }
  const { describeCluster } = await kubernetes.for(AS_PODS)
  return { name: 'kubernetes', ...(await describeCluster({ context, namespace, ...needs })) }
}

/** What `auto` knows of this machine beside what its engines say. */
export interface Known {
  /** Remembers what `auto` takes between starts; missing means that the engines are always asked. */
  memory?: RememberedChoice | undefined
  /** Providers that could start no sandbox. */
  failed?: FailedTrials
}

/**
 * Returns the provider for the settings. A named provider is not checked: `prepare` reports why it does not work.
 * @param onProgress called with progress of the preparation
 * @param probesOfMachine replaced in tests, to simulate other machines
 */
export async function findProvider(
  settings: Settings,
  log: Log,
  onProgress: (message: string) => void = () => {},
  { memory, failed = {} }: Known = {},
  probesOfMachine: readonly Probe[] = probesFor(settings, false),
): Promise<FoundProvider> {
  const { stateDir, cacheDir } = settings
  // Those in use: every machine has a folder for temporary files, and few have these in it.
  const sockets = [shortFolder()].filter((folder) => existsSync(folder))
  const mount = settings.mount && (await resolveMount(settings.mount, [stateDir, cacheDir, ...sockets]))
  if (settings.runtime !== 'auto')
    return { provider: await createProvider(settings.runtime, settings, mount, log), passedOver: [] }
  const probes = probesOfMachine.map((probe): Probe => async (inBackground) => {
    const candidate = await probe(inBackground)
    const trial = candidate.usable ? failed[candidate.name] : undefined
    return trial?.verdict === candidate.verdict ? refused(candidate, trial.reason) : candidate
  })
  const remembered = memory?.read()
  if (memory && remembered && !failed[remembered.name]) {
    try {
      const provider = await createProvider(remembered.name, settings, mount, log)
      if (remembered.name !== 'pyodide') await provider.prepare(onProgress)
      log.info('Sandbox provider remembered', { provider: remembered.name, verdict: remembered.verdict })
      check(memory, remembered, probes).catch(() => {})
      return { provider, verdict: remembered.verdict, passedOver: remembered.passedOver }
    } catch {
      memory.forget()
    }
  }
  let candidates = probes.map((probe) => probe())
  const unprepared: ProviderName[] = []
  let isPulling = false
  for (;;) {
    const { name, verdict, passedOver } = await firstUsable(candidates, needsEngine(settings))
    try {
      const provider = await createProvider(name, settings, mount, log)
      // `auto` skips an engine that has no image and cannot pull one.
      if (name !== 'pyodide') await provider.prepare(onProgress)
      log.info('Sandbox provider selected', { provider: name, verdict, passedOver })
      if (!isPulling) memory?.keep({ name, verdict, passedOver, refused: unprepared })
      return { provider, verdict, passedOver }
    } catch (error) {
      if (name === 'pyodide') throw withReasons(error, passedOver)
      unprepared.push(name)
      isPulling ||= BridgeError.isInstance(error) && error.code === 'SANDBOX_BUSY'
      candidates = candidates.map((probe) =>
        probe.then((one) => (one.name === name ? { name, usable: false, verdict: messageOf(error) } : one)),
      )
    }
  }
}

/** The embedded sandbox cannot do what the settings want: what is wrong is why no other could be taken. */
function withReasons(error: unknown, passedOver: readonly PassedOver[]): unknown {
  if (!BridgeError.isInstance(error) || passedOver.length === 0) return error
  const others = passedOver.map(({ name, verdict }) => `${name}: ${verdict}`).join('; ')
  return new BridgeError(error.code, `${error.message}, and no other sandbox is usable (${others})`, {
    hint: error.hint,
    cause: error,
  })
}

/** Lets the next start ask again, when `auto` would take another provider by now. This start keeps what it has. */
async function check(
  memory: RememberedChoice,
  { name, refused: unprepared }: KeptChoice,
  probes: readonly Probe[],
): Promise<void> {
  const candidates = probes.map(async (probe) => {
    const candidate = await probe(true)
    return unprepared.includes(candidate.name) ? { ...candidate, usable: false, asleep: false } : candidate
  })
  if ((await firstUsable(candidates)).name !== name) memory.forget()
}

/** Whether the user wants what bubblewrap with this machine's Python has not. */
function needsEngine({ image, ociRuntime, cpus }: Settings): boolean {
  return image !== undefined || ociRuntime !== undefined || cpus !== undefined
}

/**
 * Returns the first running and usable provider: rootless engines and bubblewrap before a rootful engine. Otherwise one
 * that must be started first, but only if nothing else isolates as well.
 * @param prefersEngine a rootful engine before bubblewrap
 */
export async function firstUsable(probes: readonly Promise<Candidate>[], prefersEngine = false): Promise<Choice> {
  const passedOver: PassedOver[] = []
  let asleep: Candidate | undefined
  let rootful: Candidate | undefined
  for (const probe of probes) {
    const candidate = await probe
    const { name, usable, verdict } = candidate
    const isEngine = name === 'podman' || name === 'docker'
    // No better one can follow.
    if (name === 'pyodide' || (rootful && prefersEngine && !isEngine)) break
    if (usable && candidate.rootful) rootful ??= candidate
    else if (usable) return { name, verdict, passedOver }
    if (candidate.asleep) asleep ??= candidate
    const isBeaten = usable && candidate.rootful
    passedOver.push({ name, verdict: isBeaten ? `${verdict}; what needs no root is preferred` : verdict })
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
