// A sandbox that is a child process with pipes. Owns its end; knows neither engines nor frames.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { foundProgram } from '../../util/process/find-program.ts'
import { endFirst, hasStreams, NO_MORE_FILES, signalTree } from '../../util/process/process-group.ts'
import { messageOf } from '../../errors.ts'
import { createByteTail } from '../../util/bytes/byte-tail.ts'
import { withTimeout } from '../../util/async/wait.ts'
import { DRAIN_MS, type Explained, LocalSandbox, type ProcessEnd, STDERR_TAIL_BYTES } from './local-sandbox.ts'
import type { ProviderName, SandboxExit } from '../provider.ts'

/** How long a sandbox may take to end after its stdin was closed. */
const QUIET_END_MS = 3000
/** How long to retry removal, and the interval: an engine cannot remove what it is still creating. */
const REMOVE_MS = 15_000
const REMOVE_AGAIN_MS = 500

export interface StdioProcessOptions {
  id: string
  provider: ProviderName
  command: string
  args: readonly string[]
  env?: NodeJS.ProcessEnv
  /** Missing: the bridge's own folder. */
  cwd?: string
  /** The id of the user and group that run it, for root; missing: the bridge's. */
  user?: number | undefined
  /** Written to stdin first. */
  preamble?: Buffer
  /** Content of descriptors 3, 4, … */
  extraInputs?: readonly Buffer[]
  /** Adds a descriptor after these, which is rung for an interrupt: see port_pipe.py. */
  bell?: boolean
  explain: (end: ProcessEnd) => Explained | Promise<Explained>
  /** Finds the sandbox's first process, if the command does not start it itself. */
  findPid?: () => Promise<number | undefined>
  /** Ends the sandbox from outside, if closing its stdin does not. Missing: the process is killed at once. */
  remove?: () => Promise<void>
}

export class StdioProcess extends LocalSandbox {
  /** Id of the started program; undefined if it failed to start. Its own children have other ids. */
  readonly pid: number | undefined
  readonly exited: Promise<SandboxExit>
  readonly #child: ChildProcess
  readonly #remove: (() => Promise<void>) | undefined
  /** If frames use a separate socket: resolves when it was read to its end. */
  #socketClosed: Promise<void> | undefined

  constructor(options: StdioProcessOptions) {
    const extraInputs = options.extraInputs ?? []
    const found = foundProgram(options.command, options.env)
    const child = spawn(found.file, options.args, {
      stdio: [
        'pipe',
        'pipe',
        'pipe',
        ...extraInputs.map(() => 'pipe' as const),
        ...(options.bell ? ['pipe' as const] : []),
      ],
      env: found.env,
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      ...(options.user !== undefined && { uid: options.user, gid: options.user }),
      // Its own process group: Ctrl-C must not reach a kernel, and the whole group can be killed. On Windows, a hidden
      // console does the first, and what is detached outlives a killed bridge.
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    if (!hasStreams(child)) throw new Error(NO_MORE_FILES)
    // An engine's command is not the sandbox, and rootless podman may fail with that score.
    if (!options.remove) endFirst(child)
    super({
      id: options.id,
      provider: options.provider,
      stdin: child.stdin,
      stdout: child.stdout,
      bell: options.bell ? (child.stdio[3 + extraInputs.length] as Writable) : undefined,
      findPid: options.findPid ?? (async () => child.pid),
    })
    this.#child = child
    this.#remove = options.remove
    this.pid = child.pid
    // Writing to a sandbox that is gone is harmless; `exited` reports its end.
    this.stdin.on('error', () => {})
    this.stdout.on('error', () => {})
    extraInputs.forEach((content, index) => {
      const stream = child.stdio[index + 3] as Writable
      stream.on('error', () => {}).end(content)
    })
    this.bell?.on('error', () => {})
    if (options.preamble) this.stdin.write(options.preamble)

    const tail = createByteTail(STDERR_TAIL_BYTES)
    child.stderr.on('error', () => {}).on('data', (chunk: Buffer) => tail.push(chunk))
    this.exited = whenEnded(child).then(async ({ code, signal, spawnError }) => {
      if (this.#socketClosed) await withTimeout(this.#socketClosed, DRAIN_MS, () => this.stdin.destroy())
      this.bell?.destroy()
      const stderr = spawnError ?? tail.text().trim()
      const end: ProcessEnd = { code, signal, stderr, spoke: bytesRead(this.stdout) > 0 }
      const explained: Explained = spawnError
        ? { reason: 'failed-to-start', detail: spawnError }
        : this.isDisposing
          ? { reason: 'disposed', detail: stderr }
          : await options.explain(end)
      return { code, signal, ...explained }
    })
  }

  /** Uses this socket for frames, and stdin as the bell; closing stdin still ends the sandbox. Call it before reads. */
  useSocket(socket: Socket): void {
    this.bell = this.stdin
    // Nothing is expected on stdout; it is drained, so that the process can end.
    this.stdout.removeAllListeners('readable').resume()
    socket.on('error', () => {})
    this.stdin = socket
    this.stdout = socket
    this.#socketClosed = new Promise((resolve) => socket.once('close', () => resolve()))
  }

  /** Resolves with whether anything arrives on stdout. The data stays there to be read. */
  async speaks(): Promise<boolean> {
    const { stdout } = this
    await new Promise<void>((resolve) => {
      for (const event of ['readable', 'close']) stdout.once(event, resolve)
    })
    if (stdout.readableLength > 0) return true
    stdout.resume()
    await this.exited
    return false
  }

  protected async endProcesses(): Promise<void> {
    if (this.#remove) {
      const hasEnded = this.exited.then(() => true)
      if (await withTimeout(hasEnded, QUIET_END_MS, () => false)) return
      for (const start = performance.now(); performance.now() - start < REMOVE_MS;) {
        await this.#remove().catch(() => {})
        if (await withTimeout(hasEnded, REMOVE_AGAIN_MS, () => false)) return
      }
    }
    this.#kill()
  }

  #kill(): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    // On Windows, these programs start no others.
    if (process.platform !== 'win32') signalTree(this.#child, 'SIGKILL')
    this.#child.kill('SIGKILL')
  }
}

interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  spawnError?: string
}

/** Resolves when the process has ended and its output was read, or its time is up: kept pipes delay nothing. */
async function whenEnded(child: ChildProcess): Promise<Ended> {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const ended = await new Promise<Ended>((resolve) => {
    child.once('error', (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, spawnError: messageOf(error) })
    })
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  const letGo = () => {
    child.stdin?.destroy()
    child.stderr?.destroy()
  }
  if (child.pid !== undefined) await withTimeout(closed, DRAIN_MS, letGo)
  return ended
}

function bytesRead(stream: Readable): number {
  return 'bytesRead' in stream && typeof stream.bytesRead === 'number' ? stream.bytesRead : 0
}
