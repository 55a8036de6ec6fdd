// A command that the user's resident runs: passes its output to this terminal, and what is typed to it. Loads next to
// nothing. Where no resident answers, this process runs the command itself.
import type { Socket } from 'node:net'
import { dial } from '../reach/connection.ts'
import { controlLine, type FromRelay, isControl, PROTOCOL, readControl, type TypedCommand } from '../reach/protocol.ts'
import { isOnlyOurs } from '@sandbridge/core/util/files'
import { isKeptOut } from '../reach/run-folder.ts'
import { createLineSplitter } from '@sandbridge/core/util/bytes'
import { type EndSignal, SHUTDOWN_LIMIT_MS, SIGNAL_EXIT_CODES } from '@sandbridge/core/util/process'
import { endWithoutReader } from '@sandbridge/core/util/process/lost-reader.ts'
import { isOffInFile, ownResident } from '../own-resident.ts'

const WELCOME_MS = 2_000
const MAX_LINE_BYTES = 2 ** 29
const LOST =
  'sandbridge: The resident bridge ended while this command ran. What it did may or may not have taken effect.\n'

/** @param command runs the command in this process */
export async function runInResident(command: () => Promise<void>): Promise<void> {
  let isConnected = false
  const runHere = (): void => {
    if (!isConnected) endWithoutReader()
    void command()
  }
  try {
    const { context, key, place } = await ownResident()
    // A command makes no folder. What others can write to, no relay uses.
    if (!isOnlyOurs(place.folder) || isKeptOut(place) || (await isOffInFile(context))) return runHere()
    const { env, cwd, home, ownPaths } = context
    const socket = dial(place.socket, () => {
      socket.on('data', (chunk) => lines.push(chunk))
      socket.write(
        controlLine({ hello: PROTOCOL, key: key.text, pid: process.pid, env, cwd, home, ownPaths, isCommand: true }),
      )
      isConnected = true
      // Opening the outputs takes time, in which the resident can work.
      endWithoutReader()
      run = controlLine({ run: typedCommand() })
    })
    const giveUp = (): void => {
      clearTimeout(late)
      socket
        .removeAllListeners()
        .on('error', () => {})
        .destroy()
      runHere()
    }
    const late = setTimeout(giveUp, WELCOME_MS)
    let run = ''
    const lines = createLineSplitter({
      maxBytes: MAX_LINE_BYTES,
      onLine: (line) => {
        if (!isControl(line) || readControl(line)['welcome'] === undefined) return giveUp()
        clearTimeout(late)
        // The resident can begin meanwhile.
        socket.write(run)
        socket.removeAllListeners()
        new RunningCommand(socket).begin()
      },
      onTooLong: giveUp,
    })
    socket.on('error', () => {})
    socket.on('close', giveUp)
  } catch {
    runHere()
  }
}

class RunningCommand {
  readonly #socket: Socket
  /** Whether the resident has said anything since the last Ctrl-C. */
  #wasHeard = true
  #wantsInput = false
  #isReading = false
  #isOver = false
  /** Of a signal, or of a lost reader. The resident may hear of it after the command has ended. */
  #endCode: number | undefined
  readonly #onTyped = (chunk: Buffer): void => {
    this.#say({ typed: chunk.toString('base64') })
    if (this.#socket.writableNeedDrain) this.#read()
  }

  constructor(socket: Socket) {
    this.#socket = socket
  }

  begin(): void {
    const socket = this.#socket
    const lines = createLineSplitter({
      maxBytes: MAX_LINE_BYTES,
      onLine: (line) => this.#told(readControl(line)),
      onTooLong: () => socket.destroy(),
    })
    socket.on('data', (chunk) => lines.push(chunk))
    socket.on('drain', () => this.#read())
    socket.on('error', () => {})
    socket.on('close', () => {
      if (!this.#isOver) process.stderr.write(LOST)
      this.#exit(1)
    })
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.#signalled(signal))
    process.stdout.on('resize', () => {
      const { columns, rows } = process.stdout
      this.#say({ size: { columns, rows } })
    })
  }

  #told({ out, err, read, raw, exit }: Record<string, unknown>): void {
    this.#wasHeard = true
    if (typeof out === 'string') this.#write(process.stdout, out)
    if (typeof err === 'string') this.#write(process.stderr, err)
    if (typeof raw === 'boolean' && process.stdin.isTTY) process.stdin.setRawMode(raw)
    if (typeof read === 'boolean') {
      this.#wantsInput = read
      this.#read()
    }
    if (typeof exit === 'number') this.#exit(exit)
  }

  #write(output: NodeJS.WriteStream, text: string): void {
    if (output.write(text) || this.#socket.isPaused() || this.#endCode !== undefined) return
    this.#socket.pause()
    output.once('drain', () => this.#socket.resume())
  }

  /**
   * Takes nothing from standard input that the command does not read: it may be another's. Nor what has no room yet on
   * its way there: input may have no end.
   */
  #read(): void {
    // Node's standard input stops for good when it is paused and resumed at once.
    setImmediate(() => {
      const isWanted = this.#wantsInput && !this.#socket.writableNeedDrain
      if (isWanted === this.#isReading) return
      this.#isReading = isWanted
      const { stdin } = process
      if (isWanted) stdin.on('data', this.#onTyped).once('end', this.#onTypedAll).resume()
      else stdin.off('data', this.#onTyped).off('end', this.#onTypedAll).pause()
    })
  }

  readonly #onTypedAll = (): void => this.#say({ typed: null })

  #signalled(signal: EndSignal): void {
    if (signal !== 'SIGINT') {
      this.#endCode = SIGNAL_EXIT_CODES[signal]
      // An output that has failed never drains, and the end of the command would not be read.
      this.#socket.resume()
      // Also when nobody reads what is still to be written.
      setTimeout(() => process.exit(this.#endCode), SHUTDOWN_LIMIT_MS).unref()
    } else if (!this.#wasHeard) return this.#exit(SIGNAL_EXIT_CODES[signal])
    this.#wasHeard = false
    this.#say({ signal })
  }

  #say(message: FromRelay): void {
    if (!this.#socket.destroyed) this.#socket.write(controlLine(message))
  }

  /** After everything that was written, or could not be: that ends a command without a resident, too. */
  #exit(code: number): void {
    if (this.#isOver) return
    this.#isOver = true
    process.stdout.write('', (failed) => {
      const end = (): void => {
        process.stderr.write('', () => process.exit(this.#endCode ?? (failed ? SIGNAL_EXIT_CODES.SIGTERM : code)))
      }
      // The event of the error, which says why, comes after this.
      if (failed) setImmediate(end)
      else end()
    })
  }
}

function typedCommand(): TypedCommand {
  const { argv, stdout, stderr } = process
  // Most commands read nothing. Opening a file or a device to read takes Node longer than all of this.
  const isTTY = process.getBuiltinModule('node:tty').isatty(0)
  return { words: argv.slice(2), stdin: { isTTY }, stdout: sizeOf(stdout), stderr: sizeOf(stderr) }
}

function sizeOf({ isTTY, columns, rows }: NodeJS.WriteStream): { isTTY: boolean; columns: number; rows: number } {
  return { isTTY, columns, rows }
}
