// In a resident: the terminal of a command that its user typed in another process.
import type { Socket } from 'node:net'
import { Readable, Writable, type WritableOptions } from 'node:stream'
import type { ClientContext } from '@sandbridge/core/config/settings'
import { controlLine, type FromResident, type OutputSize, sizeOf, type TypedCommand } from '../reach/protocol.ts'
import { leavesUnread } from './socket-transport.ts'
import { type EndSignal, SIGNAL_EXIT_CODES } from '@sandbridge/core/util/process'
import { printer, type Terminal, type TerminalInput, type TerminalOutput } from '@sandbridge/core/serve/cli/terminal'

/** So much is asked for before the command has read it. */
const READ_AHEAD_BYTES = 2 ** 20
/** More than this that the command does not read: the other process types on although it was asked to wait. */
const MAX_TYPED_BYTES = 2 ** 25

interface Ending {
  end: () => Promise<void>
  signals: readonly EndSignal[]
}

export class RemoteTerminal {
  readonly terminal: Terminal
  readonly #socket: Socket
  readonly #stdin: Readable
  readonly #outputs: readonly TerminalOutput[]
  #interrupted: (() => void)[] = []
  #ends: Ending[] = []
  /** Nothing more is typed. */
  #isTyped = false
  #isOver = false
  /** Of the signal that ends the command. */
  #endCode: number | undefined

  constructor(
    socket: Socket,
    context: ClientContext,
    { stdin: input, stdout: output, stderr: errors }: TypedCommand,
    resident: Terminal['resident'],
  ) {
    this.#socket = socket
    const stdin = this.#input(input.isTTY)
    const stdout = this.#output('out', output)
    const stderr = this.#output('err', errors)
    this.#stdin = stdin
    this.#outputs = [stdout, stderr]
    this.terminal = {
      ...printer({ stdout, stderr, env: context.env }),
      context,
      stdin,
      stdout,
      stderr,
      exitCode: undefined,
      onEnd: (end, signals = ['SIGINT', 'SIGTERM', 'SIGHUP']) => {
        // It may have ended while the command was getting ready.
        if (this.#isOver) void end()
        else this.#ends.push({ end, signals })
      },
      onInterrupt: (listener) => void this.#interrupted.push(listener),
      interrupt: () => void this.#signalled('SIGINT'),
      ...(resident && { resident }),
    }
  }

  /** What the other process says. */
  told({ typed, signal, size }: Record<string, unknown>): void {
    if (this.#stdin.readableLength > MAX_TYPED_BYTES) return void this.#socket.destroy()
    // A stream fails at what follows its end.
    if (!this.#isTyped && typeof typed === 'string' && !this.#stdin.push(Buffer.from(typed, 'base64')))
      this.#say({ read: false })
    if (!this.#isTyped && typed === null) {
      this.#isTyped = true
      this.#stdin.push(null)
    }
    if (typeof signal === 'string' && Object.hasOwn(SIGNAL_EXIT_CODES, signal))
      void this.#signalled(signal as EndSignal)
    if (size !== undefined) for (const output of this.#outputs) this.#resize(output, sizeOf(size))
  }

  /** The command has ended. */
  exit(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#say({ exit: this.#endCode ?? this.terminal.exitCode ?? 0 })
    this.#socket.end()
  }

  /** The other process is gone: ends what the command has started. */
  async gone(): Promise<void> {
    this.#isOver = true
    this.#stdin.destroy()
    await this.#end(this.#ends)
  }

  async #signalled(signal: EndSignal): Promise<void> {
    if (signal === 'SIGINT' && this.#interrupted.length > 0) {
      for (const listener of this.#interrupted) listener()
      return
    }
    this.#endCode ??= SIGNAL_EXIT_CODES[signal]
    await this.#end(this.#ends.filter(({ signals }) => signals.includes(signal)))
    this.exit()
  }

  async #end(which: readonly Ending[]): Promise<void> {
    this.#ends = this.#ends.filter((one) => !which.includes(one))
    await Promise.allSettled(which.map(({ end }) => end()))
  }

  #input(isTTY: boolean): TerminalInput {
    let isPaused = false
    const tell = (): void => this.#say({ read: !isPaused })
    const stdin: TerminalInput = new Readable({
      highWaterMark: READ_AHEAD_BYTES,
      read: () => void (isPaused || tell()),
    })
    stdin.on('pause', () => {
      isPaused = true
      tell()
    })
    stdin.on('resume', () => {
      isPaused = false
      tell()
    })
    const setRawMode = (isRaw: boolean): void => {
      stdin.isRaw = isRaw
      this.#say({ raw: isRaw })
    }
    return Object.assign(stdin, { isTTY, ...(isTTY && { isRaw: false, setRawMode }) })
  }

  #output(name: 'out' | 'err', size: OutputSize): TerminalOutput {
    const write: WritableOptions['write'] = (chunk: unknown, _encoding, done) => {
      this.#say(name === 'out' ? { out: String(chunk) } : { err: String(chunk) })
      done()
    }
    return Object.assign(new Writable({ decodeStrings: false, write }), size)
  }

  #resize(output: TerminalOutput, { columns, rows }: OutputSize): void {
    Object.assign(output, columns !== undefined && { columns }, rows !== undefined && { rows })
    output.emit('resize')
  }

  #say(message: FromResident): void {
    if (leavesUnread(this.#socket)) this.#socket.destroy()
    if (!this.#socket.destroyed && this.#socket.writable) this.#socket.write(controlLine(message))
  }
}
