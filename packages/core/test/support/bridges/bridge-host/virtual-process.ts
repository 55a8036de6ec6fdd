// What a bundle sees as its process, though several share one: streams, variables, folder, arguments, signals, timers,
// children and an end of its own. What a real process takes with it when it ends is ended here.
import childProcess, { type ChildProcess, type SpawnOptions } from 'node:child_process'
import { EventEmitter } from 'node:events'
import Module from 'node:module'
import http from 'node:http'
import https from 'node:https'
import net, { type Server, type Socket } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { Readable, Writable } from 'node:stream'
import type { HostedBundle } from './hosted-bundle.ts'
import type { Start } from './messages.ts'

/** Thrown by `process.exit`, because nothing of a process runs after it. */
export class ProcessEnded extends Error {}

/** Who started the process. */
export interface Starter {
  write(stream: 'stdout' | 'stderr', chunk: Buffer, done: () => void): void
  ended(code: number | null, signal: NodeJS.Signals | null): void
}

type Callback = (...values: unknown[]) => void
type Timer = NodeJS.Timeout | NodeJS.Immediate

const IDLE_MS = 20

const ABOUT_EVENTS = [
  'addListener',
  'emit',
  'listenerCount',
  'listeners',
  'off',
  'on',
  'once',
  'prependListener',
  'removeAllListeners',
  'removeListener',
] as const

export class VirtualProcess {
  readonly stdin = new Readable({ read: () => {} })
  readonly #start: Start
  readonly #starter: Starter
  readonly #events = new EventEmitter().setMaxListeners(0)
  readonly #outputs: Record<'stdout' | 'stderr', Writable>
  readonly #timers = new Set<Timer>()
  readonly #children = new Set<ChildProcess>()
  readonly #servers = new Set<Server>()
  readonly #sockets = new Set<Socket>()
  readonly #process: NodeJS.Process
  #isOver = false

  constructor(bundle: HostedBundle, start: Start, starter: Starter) {
    this.#start = start
    this.#starter = starter
    this.#outputs = { stdout: this.#output('stdout'), stderr: this.#output('stderr') }
    this.#process = this.#playProcess()
    const entry = isServer(start) ? path.basename(start.cli) : 'command.js'
    const globals = { process: this.#process, ...this.#playTimers() }
    const { done } = bundle.run(entry, globals, this.#playModules()) as { done?: Promise<void> }
    void done?.then(() => this.#endWhenIdle())
  }

  /** Nobody hears a SIGKILL. */
  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGKILL' || !this.#events.emit(signal, signal)) this.#end(null, signal)
  }

  #exit(code: number): never {
    if (!this.#isOver) {
      this.#isOver = true
      this.#events.emit('exit', code)
      this.#end(code, null)
    }
    throw new ProcessEnded()
  }

  /** A process that has failed, or has done its work, ends as soon as it waits for nothing. */
  #endWhenIdle(): void {
    setTimeout(() => {
      const reads =
        !this.stdin.readableEnded && ['data', 'readable'].some((event) => this.stdin.listenerCount(event) > 0)
      const waits = [...this.#timers].some((timer) => timer.hasRef()) || this.#children.size > 0
      const serves = [...this.#servers].some((server) => server.listening)
      if (this.#isOver) return
      if (reads || waits || serves) this.#endWhenIdle()
      else this.#process.exit()
    }, IDLE_MS)
  }

  #end(code: number | null, signal: NodeJS.Signals | null): void {
    this.#isOver = true
    this.#events.removeAllListeners()
    for (const timer of this.#timers) clear(timer)
    for (const child of this.#children) {
      child.unref()
      for (const stream of child.stdio) stream?.on('error', () => {}).destroy()
    }
    for (const server of this.#servers) server.close()
    for (const socket of this.#sockets) socket.destroy()
    this.stdin.destroy()
    const { stdout, stderr } = this.#outputs
    stdout.end(() => stderr.end(() => this.#starter.ended(code, signal)))
  }

  #output(name: 'stdout' | 'stderr'): Writable {
    const write = (chunk: Buffer, _: BufferEncoding, done: () => void): void => this.#starter.write(name, chunk, done)
    return new Writable({ write })
  }

  /** What is not named here is that of the host. */
  #playProcess(): NodeJS.Process {
    const { cli, env, cwd, args } = this.#start
    const events = this.#events
    let exitCode: number | undefined
    const endWhenIdle = () => this.#endWhenIdle()
    const own = {
      env: { ...env },
      argv: [process.execPath, cli, ...args],
      execArgv: [],
      cwd: () => cwd,
      stdin: this.stdin,
      ...this.#outputs,
      get exitCode() {
        return exitCode
      },
      set exitCode(code) {
        exitCode = code
        endWhenIdle()
      },
      exit: (code = exitCode ?? 0) => this.#exit(code),
      kill: (pid: number, signal: NodeJS.Signals | 0 = 'SIGTERM') =>
        pid === process.pid && signal !== 0 ? this.signal(signal) : process.kill(pid, signal),
      ...Object.fromEntries(ABOUT_EVENTS.map((name) => [name, (events[name] as Callback).bind(events)])),
    }
    return Object.create(process, Object.getOwnPropertyDescriptors(own)) as NodeJS.Process
  }

  #playTimers(): Record<string, unknown> {
    const once =
      (make: (callback: Callback, ...values: never[]) => Timer) =>
      (callback: Callback, ...values: never[]): Timer => {
        const timer = make(
          (...given) => {
            this.#timers.delete(timer)
            callback(...given)
          },
          ...values,
        )
        return this.#keep(timer)
      }
    const stop = (timer: Timer): void => {
      this.#timers.delete(timer)
      clear(timer)
    }
    return {
      clearTimeout: stop,
      clearInterval: stop,
      clearImmediate: stop,
      setTimeout: once(setTimeout),
      setImmediate: once(setImmediate),
      setInterval: (callback: Callback, ms?: number, ...values: unknown[]) =>
        this.#keep(setInterval(callback, ms, ...values)),
    }
  }

  #keep(timer: Timer): Timer {
    if (this.#isOver) clear(timer)
    else this.#timers.add(timer)
    return timer
  }

  #playModules(): Record<string, unknown> {
    const { cwd } = this.#start
    const { env } = this.#process
    const createRequire = (from: string) => Object.assign(Module.createRequire(from), { extensions: {} })
    return {
      process: this.#process,
      os: { ...os, homedir: () => env['HOME'] ?? os.homedir(), tmpdir: () => env['TMPDIR'] ?? '/tmp' },
      path: { ...path, resolve: (...parts: string[]) => path.resolve(cwd, ...parts) },
      child_process: { ...childProcess, spawn: this.#spawn.bind(this) },
      net: { ...net, createServer: this.#serving(net.createServer) },
      http: { ...http, createServer: this.#serving(http.createServer) },
      https: { ...https, createServer: this.#serving(https.createServer) },
      // The bundle keeps compiled code by it, which the host does itself.
      module: Object.assign(() => {}, Module, { createRequire }),
    }
  }

  #serving(createServer: (...values: never[]) => Server) {
    return (...values: never[]): Server => {
      const server = createServer(...values)
      this.#servers.add(server)
      return server.on('connection', (socket: Socket) => {
        this.#sockets.add(socket)
        socket.once('close', () => this.#sockets.delete(socket))
      })
    }
  }

  #spawn(command: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
    if (this.#isOver) throw new ProcessEnded()
    const { cwd = this.#start.cwd, env = this.#process.env } = options
    const child = childProcess.spawn(command, args, { ...options, cwd, env })
    // One whose program is missing never exits.
    if (child.pid !== undefined) this.#children.add(child)
    child.once('exit', () => this.#children.delete(child))
    return child
  }
}

const isServer = ({ args }: Start): boolean => args.length === 0 || args[0] === 'run'

function clear(timer: Timer): void {
  clearTimeout(timer as NodeJS.Timeout)
  clearImmediate(timer as NodeJS.Immediate)
}
