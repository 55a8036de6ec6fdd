// Starts containers whose frames bypass the engine, if that works. The first sign from a sandbox tells: a connection to
// its socket, or frames on the stdout of the engine's command.
import { withTimeout } from '@sandbridge/core/util/async'
import type { StdioProcess } from '@sandbridge/core/isolation'
import { type ChannelSocket, openChannelSocket } from './channel-socket.ts'
import { EXIT_ENGINE, type Engine } from './probe-engine.ts'

/** How long to wait for a container's connection before its frames go through the engine. */
const CONNECT_MS = 15_000

export class PastEngine {
  /** Undefined until a sandbox has tried. */
  #works: boolean | undefined

  /** @param run starts a container, which uses the socket at the given path */
  async start(engine: Engine, run: (channelPath?: string) => StdioProcess): Promise<StdioProcess> {
    const socket = this.#works === false ? undefined : await openFor(engine)
    if (!socket) return run()
    const sandbox = run(socket.path)
    const first = await withTimeout(
      Promise.race([socket.connected, sandbox.speaks()]),
      CONNECT_MS,
      () => 'late' as const,
    )
    socket.close()
    if (typeof first === 'object') {
      this.#works = true
      sandbox.useSocket(first)
      return sandbox
    }
    if (first === 'late' || this.#works) return sandbox
    // An engine that cannot see the socket fails to create the container.
    const isRefused = !first && (await sandbox.exited).code === EXIT_ENGINE
    if (first || isRefused) this.#works = false
    return isRefused ? run() : sandbox
  }
}

async function openFor({ isLocal, hostUid }: Engine): Promise<ChannelSocket | undefined> {
  if (!isLocal) return undefined
  const isOther = hostUid !== undefined && hostUid !== process.getuid?.()
  return openChannelSocket(isOther ? hostUid : undefined).catch(() => undefined)
}
