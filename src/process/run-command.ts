// Runs one short command and collects what it says: an engine's command line, or a Python that is asked what it is. Long-lived sandboxes are not its business.
import { type ChildProcess, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import { messageOf } from '../errors.ts'

/** Output beyond this is dropped: no command here says that much. */
const OUTPUT_LIMIT_CHARS = 4 << 20

/** Running commands, ended with this process: an abandoned download could otherwise run for ever. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill()
})

export interface CommandResult {
  /** Exit code; null when the command could not be started, was killed, or took too long. */
  code: number | null
  stdout: string
  stderr: string
  /** The command does not exist. */
  missing: boolean
}

/**
 * Run `command` with `args`. Never rejects: what went wrong is in the result.
 * @param options.onLine hears every line of either stream while it runs
 * @param options.timeoutMs after it, the command is killed (none: 30 s)
 * @param options.input what it reads on stdin (none: nothing)
 * @param options.extraInput what it reads on descriptor 3, which it has only then
 * @param options.env its whole environment (none: the bridge's)
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
  } = {},
): Promise<CommandResult> {
  const timeoutMs = options.timeoutMs ?? 30_000
  return new Promise((resolve) => {
    let stdout = ''
    let stderr = ''
    let timedOut = false
    const extra = options.extraInput ? ['pipe' as const] : []
    const child = spawn(command, args, {
      stdio: ['pipe', 'pipe', 'pipe', ...extra],
      windowsHide: true,
      ...(options.env && { env: options.env }),
    })
    running.add(child)
    if (options.extraInput) (child.stdio[3] as Writable).on('error', () => {}).end(options.extraInput)
    // A command that ends without reading it says why by itself.
    child.stdin.on('error', () => {}).end(options.input)
    const timer = setTimeout(() => {
      timedOut = true
      child.kill('SIGKILL')
    }, timeoutMs)
    const finish = (code: number | null, missing = false) => {
      clearTimeout(timer)
      running.delete(child)
      if (timedOut) stderr += `${stderr ? '\n' : ''}no answer within ${timeoutMs / 1000} s`
      resolve({ code: timedOut ? null : code, stdout: stdout.trim(), stderr: stderr.trim(), missing })
    }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length < OUTPUT_LIMIT_CHARS) stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < OUTPUT_LIMIT_CHARS) stderr += text
    })
    if (options.onLine) {
      eachLine(child.stdout, options.onLine)
      eachLine(child.stderr, options.onLine)
    }
    child.on('error', (error: NodeJS.ErrnoException) => {
      stderr += messageOf(error)
      finish(null, error.code === 'ENOENT')
    })
    child.on('close', (code) => finish(code))
  })
}

function eachLine(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = ''
  stream.on('data', (text: string) => {
    const lines = (rest + text).split(/\r\n|\r|\n/)
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim()) onLine(line.trim())
  })
}
