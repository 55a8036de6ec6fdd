// A run of the program that looks like a process to a test, but has none of its own: a host, which this vitest worker
// starts at the first use, plays it. A start takes a fifth of the processor time of that of a process.
import { type ChildProcess, fork } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import path from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import type { FromHost, Start, ToHost } from './messages.ts'

interface Host {
  child: ChildProcess
  playing: Map<number, HostedProcess>
}

let host: Host | undefined
let lastId = 0

function hostFor(cli: string): Host {
  if (host) return host
  const child = fork(path.join(path.dirname(cli), 'host.js'), {
    serialization: 'advanced',
    // Its own variables are seen by none that it plays.
    env: { PATH: process.env['PATH'] },
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const started: Host = { child, playing: new Map() }
  child.on('message', (message: FromHost) => started.playing.get(message.id)?.hear(message))
  child.once('exit', (code, signal) => {
    host = undefined
    for (const one of started.playing.values()) one.hear({ id: 0, code, signal })
  })
  // The worker may end while it plays nothing.
  child.unref()
  return (host = started)
}

/** It has the streams and events of a child process. */
export class HostedProcess extends EventEmitter<{
  exit: [number | null, NodeJS.Signals | null]
  close: [number | null]
  /** Never: there is no program to be missing. */
  error: [Error]
}> {
  readonly stdin: Writable
  readonly stdout = new PassThrough()
  readonly stderr = new PassThrough()
  exitCode: number | null = null
  signalCode: NodeJS.Signals | null = null
  readonly #id = ++lastId
  readonly #host: Host

  constructor(start: Start) {
    super()
    this.#host = hostFor(start.cli)
    this.#host.playing.set(this.#id, this)
    this.#host.child.channel?.ref()
    this.#tell({ id: this.#id, start })
    this.stdin = new Writable({
      write: (stdin: Buffer, _, done) => this.#tell({ id: this.#id, stdin }, done),
      final: (done) => this.#tell({ id: this.#id, stdinEnds: true }, done),
    })
  }

  kill(signal: NodeJS.Signals = 'SIGTERM'): void {
    this.#tell({ id: this.#id, signal })
  }

  get hasEnded(): boolean {
    return this.exitCode !== null || this.signalCode !== null
  }

  /** For the host alone. */
  hear(message: FromHost): void {
    if ('stream' in message) this[message.stream].write(message.chunk)
    else {
      this.#host.playing.delete(this.#id)
      if (this.#host.playing.size === 0) this.#host.child.channel?.unref()
      this.exitCode = message.code
      this.signalCode = message.signal
      this.stdin.destroy()
      this.stdout.end()
      this.stderr.end()
      this.emit('exit', message.code, message.signal)
      void Promise.all([once(this.stdout, 'close'), once(this.stderr, 'close')]).then(() =>
        this.emit('close', message.code),
      )
    }
  }

  #tell(message: ToHost, done = (): void => {}): void {
    if (this.hasEnded || !this.#host.child.connected) return done()
    this.#host.child.send(message, undefined, undefined, () => done())
  }
}
