// Runs one short command and collects its output, such as an engine's command line. Not for long-lived sandboxes.
import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { messageOf } from '../../errors.ts'
import { foundProgram } from './find-program.ts'
import { hasStreams, NO_MORE_FILES, signalTree } from './process-group.ts'

/** Output beyond this is dropped; no command here prints as much. */
const OUTPUT_LIMIT_CHARS = 4 << 20

/** What terminals and task runners set for people. It would change output that is read here. */
const FOR_PEOPLE =
  'CLICOLOR_FORCE COLUMNS FORCE_COLOR LINES PY_COLORS PYTHON_COLORS TTY_COMPATIBLE TTY_INTERACTIVE'.split(' ')

/** How long to wait for the rest of the output once the command has exited: what it started may keep the pipes open. */
const DRAIN_MS = 500

/** Running commands, ended when this process exits: an abandoned download could otherwise run forever. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) signalTree(child, 'SIGTERM')
})

export interface CommandResult {
  /** Exit code; null if the command could not be started, was killed, or timed out. */
  code: number | null
  stdout: string
  stderr: string
  /** The command does not exist. */
  missing: boolean
}

/**
 * Run `command` with `args`. Never rejects: the result describes any failure.
 * @param options.onLine called with every line of either stream while the command runs
 * @param options.timeoutMs kills the command, and what it has started, after this time (default 30 s)
 * @param options.input stdin of the command (default empty)
 * @param options.extraInput descriptor 3 of the command (default closed)
 * @param options.inBackground the bridge may exit before the command does, which ends it
 * @param options.cwd its folder (default: the bridge's)
 * @param options.isVerbatim on Windows, the arguments are as the command reads them, as those of cmd.exe
 * @param options.env the whole environment (default: the bridge's, with the usual folders on its PATH)
 */
export function runCommand(
  command: string,
  args: readonly string[],
  options: {
    timeoutMs?: number
    onLine?: (line: string) => void
    input?: Buffer
    extraInput?: Buffer
    env?: NodeJS.ProcessEnv
    inBackground?: boolean
    isVerbatim?: boolean
    cwd?: string
  } = {},
): Promise<CommandResult> {
  const timeoutMs = options.timeoutMs ?? 30_000
  return new Promise<CommandResult>((resolve) => {
    let stdout = ''
    let stderr = ''
    let timedOut = false
    let draining: NodeJS.Timeout | undefined
    const extra = options.extraInput ? ['pipe' as const] : []
    const found = foundProgram(command, options.env)
    const child = spawn(found.file, args, {
      stdio: ['pipe', 'pipe', 'pipe', ...extra],
      windowsHide: true,
      // Its own process group: a wrapper such as `flatpak-spawn` is killed with what it has started.
      detached: process.platform !== 'win32',
      env: plainOutput(found.env),
      windowsVerbatimArguments: options.isVerbatim === true,
      ...(options.cwd !== undefined && { cwd: options.cwd }),
    })
    if (!hasStreams(child)) throw new Error(NO_MORE_FILES)
    running.add(child)
    if (options.inBackground) for (const one of [child, ...child.stdio]) (one as Partial<Socket> | undefined)?.unref?.()
    if (options.extraInput) (child.stdio[3] as Writable).on('error', () => {}).end(options.extraInput)
    // A command that exits without reading its input reports why itself.
    child.stdin.on('error', () => {}).end(options.input)
    const timer = setTimeout(() => {
      timedOut = true
      signalTree(child, 'SIGKILL')
      finish(null)
    }, timeoutMs)
    if (options.inBackground) timer.unref()
    const finish = (code: number | null, signal?: NodeJS.Signals | null, missing = false) => {
      clearTimeout(timer)
      clearTimeout(draining)
      running.delete(child)
      for (const one of child.stdio) one?.destroy()
      if (timedOut) stderr += `${stderr ? '\n' : ''}no answer within ${timeoutMs / 1000} s`
      else if (signal) stderr ||= `ended by ${signal}`
      resolve({ code: timedOut ? null : code, stdout: stdout.trim(), stderr: stderr.trim(), missing })
    }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length < OUTPUT_LIMIT_CHARS) stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < OUTPUT_LIMIT_CHARS) stderr += text
    })
    if (options.onLine) for (const stream of [child.stdout, child.stderr]) eachLine(stream, options.onLine)
    child.on('error', (error: NodeJS.ErrnoException) => {
      stderr += messageOf(error)
      finish(null, null, error.code === 'ENOENT')
    })
    child.on('exit', (code, signal) => (draining = setTimeout(finish, DRAIN_MS, code, signal)))
    child.on('close', (code, signal) => finish(code, signal))
  }).catch((error: unknown) => ({ code: null, stdout: '', stderr: messageOf(error), missing: false }))
}

function plainOutput(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const plain = Object.entries(env).filter(([name]) => !FOR_PEOPLE.includes(name))
  return { ...Object.fromEntries(plain), NO_COLOR: '1' }
}

function eachLine(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = ''
  stream.on('data', (text: string) => {
    const lines = (rest + text).split(/\r\n|\r|\n/)
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim()) onLine(line.trim())
  })
}
