// Containers that outlive their bridge: started without a channel through the engine, found and removed by their label.
// ../durable/ connects to them.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '../../util/process/run-command.ts'
import { withTimeout } from '../../util/async/wait.ts'
import { hostId } from '../../util/process/process-id.ts'
import { BridgeError, messageOf } from '../../errors.ts'
import { lastLine } from '../../util/text/one-line.ts'
import { Door, type Entered } from '../durable/door.ts'
import { DurableSandbox } from '../durable/durable-sandbox.ts'
import { hashOf, isKeyOf } from '../durable/hello.ts'
import { KeptSandboxes, type KeptRecord, type HeldSandbox } from '../durable/kept-sandboxes.ts'
import { type Connection, RelayLink } from '../durable/relay-link.ts'
import type { Resumed } from '../provider.ts'
import { containerPid } from './container-pid.ts'
import type { Engine, EngineName } from './probe-engine.ts'

export interface DurableContainerOptions {
  stateDir: string
  /** Describes the options of its sandboxes; one made with other options is not used any more. */
  made: string
  /** How long a sandbox waits for a bridge. */
  keepSeconds: number
}

/** Input for a new container. */
interface NewContainer {
  engine: Engine
  /** Returns arguments for the engine's command. */
  args: (container: { name: string; labels: Record<string, string>; door: string }) => string[]
  preamble: Buffer
}

/** The most sandboxes that are kept; those used longest ago end first. */
const MAX_KEPT = 4
const LABEL = 'sandbridge.durable'
const KEY_BYTES = 32
/** Timeouts for a container to start, and for a running one to reconnect. It looks for a bridge ten times a second. */
const START_MS = 30_000
const RETURN_MS = 15_000
const ENGINE_MS = 60_000
/** How long to retry removal, and the interval. */
const REMOVE_MS = 15_000
const REMOVE_AGAIN_MS = 200

/** A name that `removeLeftovers` ignores: it contains no bridge. */
function durableName(id: string): string {
  return `sandbridge-durable-${id}`
}

export class DurableContainers {
  readonly #engine: EngineName
  readonly #options: DurableContainerOptions
  readonly #kept: KeptSandboxes

  constructor(engine: EngineName, options: DurableContainerOptions) {
    this.#engine = engine
    this.#options = options
    this.#kept = new KeptSandboxes(options.stateDir)
  }

  tidy(): Promise<void> {
    return this.#kept.tidy()
  }

  /** @throws BridgeError SANDBOX_START_FAILED */
  async start({ engine, args, preamble }: NewContainer): Promise<DurableSandbox> {
    const { hostUid } = engine
    const place = await this.#kept.make(hostUid === process.getuid?.() ? undefined : hostUid).catch(unwritable)
    const name = durableName(place.id)
    const door = await Door.open(place.door, ({ key }) => key === undefined).catch(unwritable)
    try {
      const labels = { 'sandbridge.host': hostId(), 'sandbridge.sandbox': name, [LABEL]: place.id }
      const { code, stderr } = await runCommand(engine.command, args({ name, labels, door: place.door }), {
        timeoutMs: ENGINE_MS,
      })
      if (code !== 0) throw failed(`${engine.command} could not create a container: ${lastLine(stderr)}`)
      const entered = await withTimeout(door.entered, START_MS, () => undefined)
      if (!entered) throw failed(`The container ended, or did not connect within ${START_MS / 1000} s`)
      const key = randomBytes(KEY_BYTES).toString('hex')
      const { link } = await openLink(entered, START_MS, preamble)
      return this.#sandbox(place, { link, key }, hashOf(key))
    } catch (error) {
      door.close()
      await removeContainer(this.#engine, place.id)
      await this.#kept.forget(place)
      throw error
    }
  }

  async keeps(owner: string): Promise<boolean> {
    return (await this.#kept.list()).some((record) => record.owner === owner && record.provider === this.#engine)
  }

  /** Resume the most recently used sandbox that an earlier bridge kept for this owner and that no other bridge has. */
  async resume(owner: string): Promise<Resumed> {
    const notes: string[] = []
    for (const record of await this.#kept.list()) {
      if (record.owner !== owner || record.provider !== this.#engine) continue
      const place = await this.#kept.take(record)
      if (!place) {
        const pid = await this.#kept.holder(record.id)
        // This bridge has it for another conversation.
        if (pid === process.pid) continue
        notes.push(`Another bridge (process ${pid}) has the kept sandbox ${record.id}, so its variables are not here.`)
        continue
      }
      const sandbox = await this.#enter(record, place)
      if (typeof sandbox !== 'string') return { sandbox }
      notes.push(sandbox)
    }
    return { ...(notes.length > 0 && { note: notes.join(' ') }) }
  }

  /** @returns a string with the reason, for a person, if it cannot be resumed */
  async #enter(record: KeptRecord, place: HeldSandbox): Promise<DurableSandbox | string> {
    if (!(await isRunning(this.#engine, record.id))) {
      await this.#kept.forget(place)
      return `The kept sandbox ${record.id} has ended, and its variables are gone.`
    }
    if (record.made !== hashOf(this.#options.made)) {
      await removeContainer(this.#engine, record.id)
      await this.#kept.forget(place)
      return `The kept sandbox ${record.id} was made with other settings, so the bridge ended it. Its variables are gone.`
    }
    const door = await Door.open(place.door, (hello) => isKeyOf(hello, record.keyHash)).catch(() => undefined)
    const entered = door && (await withTimeout(door.entered, RETURN_MS, () => undefined))
    const opened = entered && (await openLink(entered, RETURN_MS).catch(() => undefined))
    if (opened) return this.#sandbox(place, { link: opened.link, left: opened.hello }, record.keyHash)
    door?.close()
    await place.release()
    return `The kept sandbox ${record.id} does not answer. Remove it with \`sandbridge sandboxes remove ${record.id}\`.`
  }

  #sandbox(
    place: HeldSandbox,
    parts: Pick<ConstructorParameters<typeof DurableSandbox>[0], 'link' | 'key' | 'left'>,
    keyHash: string,
  ): DurableSandbox {
    const { id, door } = place
    const name = durableName(id)
    const engine = this.#engine
    return new DurableSandbox({
      ...parts,
      id: name,
      provider: engine,
      keepSeconds: this.#options.keepSeconds,
      keep: async (session) => {
        await this.#kept.write({ ...session, id, provider: engine, made: hashOf(this.#options.made), keyHash, door })
        void this.#makeRoom(id).catch(() => {})
      },
      touch: () => this.#kept.touch(id),
      remove: () => removeContainer(engine, id),
      findPid: () => containerPid(engine, name),
      onEnd: (isLeft) => (isLeft ? place.release() : this.#kept.forget(place)),
    })
  }

  /** Removes the sandboxes beyond the limit, least recently used first, unless a bridge has them. */
  async #makeRoom(newest: string): Promise<void> {
    const others = (await this.#kept.list()).filter(({ id }) => id !== newest)
    for (const record of others.slice(MAX_KEPT - 1)) await removeKept(this.#kept, record)
  }
}

/** Ends a kept sandbox. @returns false if a bridge has it */
export async function removeKept(kept: KeptSandboxes, record: KeptRecord): Promise<boolean> {
  const place = await kept.take(record)
  if (!place) return false
  if (record.provider === 'docker' || record.provider === 'podman') await removeContainer(record.provider, record.id)
  await kept.forget(place)
  return true
}

export function isRunning(engine: EngineName, id: string): Promise<boolean> {
  return isListed(engine, id, [])
}

async function isListed(engine: EngineName, id: string, options: readonly string[]): Promise<boolean> {
  const args = ['ps', ...options, '--filter', `label=${LABEL}=${id}`, '--format', '{{.Names}}']
  const { code, stdout } = await runCommand(engine, args, { timeoutMs: ENGINE_MS })
  return code === 0 && stdout.trim() !== ''
}

/** Resolves when the container is gone. For one that the engine is removing already, the engine refuses the command. */
async function removeContainer(engine: EngineName, id: string): Promise<void> {
  for (const start = performance.now(); performance.now() - start < REMOVE_MS;) {
    await runCommand(engine, ['rm', '--force', '--volumes', durableName(id)], { timeoutMs: ENGINE_MS })
    if (!(await isListed(engine, id, ['--all']))) return
    await sleep(REMOVE_AGAIN_MS)
  }
}

/** Each bridge has its own connection, which ends with it, so every connection has generation 1. */
function openLink({ socket }: Entered, helloMs: number, preamble?: Buffer): ReturnType<typeof RelayLink.open> {
  const connection: Connection = {
    stdin: socket,
    stdout: socket,
    ended: new Promise((resolve) => socket.once('close', () => resolve('its connection ended'))),
    close: () => socket.destroySoon(),
  }
  return RelayLink.open({ connection, generation: 1, preamble, helloMs })
}

function unwritable(cause: unknown): never {
  throw new BridgeError('STATE_UNWRITABLE', `A durable sandbox cannot be made: ${messageOf(cause)}`, { cause })
}

function failed(text: string): BridgeError {
  return new BridgeError('SANDBOX_START_FAILED', text)
}
