// Finds the image for containers, and pulls it if it is missing. Never substitutes another image.
import { BridgeError } from '@sandbridge/core/errors.ts'
import { type CommandResult, runCommand } from '@sandbridge/core/util/process'
import { withTimeout } from '@sandbridge/core/util/async'
import type { EngineName } from '@sandbridge/core/parts'
import { type Engine, engineJson } from './probe-engine.ts'
import { lastLine } from '@sandbridge/core/util/text'

export interface Image {
  /** Containers are created from the id, so that a moved tag does not change a running bridge. */
  id: string
  volumes: string[]
  /** Environment of its programs, as `NAME=value`. */
  environment: string[]
}

interface Inspected {
  Id: string
  Config?: { Volumes?: Record<string, unknown> | null; Env?: string[] | null }
}

const PULL_TIMEOUT_MS = 30 * 60_000

/** Registries that were just unreachable: another engine would wait as long to find out the same. */
const OFFLINE_MS = 30_000
const OFFLINE =
  /no such host|lookup .*: |dial tcp|i\/o timeout|timed? ?out|network is unreachable|connection refused|name resolution/i

const registries = {
  offline: new Map<string, { reason: string; at: number }>(),
  note(image: string, stderr: string): void {
    if (!OFFLINE.test(stderr)) return
    this.offline.set(registryOf(image), { reason: lastLine(stderr) ?? stderr, at: performance.now() })
  },
  whyOffline(image: string): string | undefined {
    const known = this.offline.get(registryOf(image))
    return known && performance.now() - known.at < OFFLINE_MS ? known.reason : undefined
  },
}

const registryOf = (image: string): string => fullImageName(image).split('/')[0]!

/** Those that go on, by the engine's command and the image. */
const pulls = new Map<string, Promise<CommandResult>>()

/**
 * Returns the image of this name, and pulls it if needed.
 * @param onProgress called with the engine's output during a pull
 * @param patienceMs how long to wait for a pull, which goes on after that
 * @throws BridgeError SANDBOX_IMAGE_MISSING if it is missing and cannot be pulled, or is not a Linux image;
 * SANDBOX_BUSY while it is pulled
 */
export async function ensureImage(
  engine: Engine,
  name: string,
  onProgress: (message: string) => void = () => {},
  patienceMs?: number,
): Promise<Image> {
  const present = await inspectImage(engine.command, name)
  if (present) return present
  // Engines use this prefix for images built on this machine.
  if (name.startsWith('localhost/')) throw missing(name, 'this name is for images built on this machine')
  const offline = registries.whyOffline(name)
  if (offline !== undefined) throw missing(name, offline)
  onProgress(`Pulling ${name} with ${engine.command}`)
  const full = engine.dialect === 'podman' ? fullImageName(name) : name
  const pull = startPull(engine.command, full, onProgress)
  const { code, stderr } = await (patienceMs === undefined ? pull : withTimeout(pull, patienceMs, () => pulling(name)))
  const pulled = code === 0 ? await inspectImage(engine.command, name) : undefined
  if (pulled) return pulled
  registries.note(name, stderr)
  throw missing(name, lastLine(stderr) ?? 'the engine gave no reason')
}

function startPull(command: EngineName, image: string, onLine: (line: string) => void): Promise<CommandResult> {
  const key = `${command} ${image}`
  const running = pulls.get(key)
  if (running) return running
  const options = { timeoutMs: PULL_TIMEOUT_MS, onLine }
  const pull = runCommand(command, ['pull', image], options).finally(() => pulls.delete(key))
  pulls.set(key, pull)
  return pull
}

function pulling(name: string): never {
  throw new BridgeError('SANDBOX_BUSY', `Image ${name} is still being pulled`, { hint: 'Retry when it is here.' })
}

/** A registry that takes longer is treated as unreachable. */
const ASK_TIMEOUT_MS = 5_000

/** Tells whether the image is on this machine, or can be pulled according to its registry. Pulls nothing. */
export async function findImage(engine: Engine, name: string): Promise<'here' | 'pullable' | 'missing'> {
  if (await inspectImage(engine.command, name)) return 'here'
  if (name.startsWith('localhost/')) return 'missing'
  const full = fullImageName(name)
  const asked = await runCommand(engine.command, ['manifest', 'inspect', full], { timeoutMs: ASK_TIMEOUT_MS })
  if (asked.code === 0) return 'pullable'
  registries.note(name, asked.code === null ? 'timeout' : asked.stderr)
  return 'missing'
}

function missing(name: string, reason: string): BridgeError {
  return new BridgeError('SANDBOX_IMAGE_MISSING', `Image ${name} was not found and cannot be pulled: ${reason}`, {
    hint: 'Build one with `sandbridge image build slim`, set MCP_BRIDGE_IMAGE to a local image, or set MCP_BRIDGE_RUNTIME=pyodide.',
  })
}

/** Returns the image of this name; undefined if the engine does not have it, or does not answer. */
export async function inspectImage(command: EngineName, name: string): Promise<Image | undefined> {
  const { code, stdout } = await runCommand(command, ['image', 'inspect', '--format', '{{json .}}', name])
  if (code !== 0) return undefined
  // docker returns an object, podman a list.
  const inspected = engineJson(stdout) as Inspected | undefined
  if (!inspected) return undefined
  const { Volumes, Env } = inspected.Config ?? {}
  return { id: inspected.Id, volumes: Object.keys(Volumes ?? {}), environment: Env ?? [] }
}

/**
 * Adds the registry to a name without one. Podman would ask on the terminal which one is meant, and there is no
 * terminal here. Docker's rule applies: the first part is a registry if it contains a dot or a port, or is localhost.
 */
export function fullImageName(name: string): string {
  const [first = '', ...rest] = name.split('/')
  if (rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')) return name
  return rest.length === 0 ? `docker.io/library/${name}` : `docker.io/${name}`
}
