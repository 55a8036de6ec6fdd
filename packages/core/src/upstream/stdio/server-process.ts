// A server's process, as its transport uses it, and the implementation for a child process.
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { ClientContext } from '../../config/settings/client-context.ts'
import { passedEnvironment } from '../../config/entries/passed-variables.ts'
import type { StdioServer } from '../../config/entries/server-definition.ts'
import { mergedEnvironment, environmentOf } from '../../util/process/environment.ts'
import { endGroup, trackGroup } from '../../util/process/process-group.ts'
import type { Launch } from '../../isolation/jail-part.ts'
import crossSpawn from 'cross-spawn'
import { foundProgram } from '../../util/process/find-program.ts'

export interface ProcessExit {
  code: number | null
  signal: NodeJS.Signals | null
  /** Completes a sentence about the server, when that says more than code and signal. */
  why?: string
  /** Why its command was not started at all, which Windows tells only after the start of cmd.exe. */
  notStarted?: NodeJS.ErrnoException
}

/** The streams are null when the process could not be started for lack of file descriptors. */
export interface ServerProcess {
  readonly stdin: Writable | null
  readonly stdout: Readable | null
  readonly stderr: Readable | null
  /** Resolves when it runs. @throws NodeJS.ErrnoException, Error with the reason why it does not */
  readonly started: Promise<void>
  /** Resolves when it has exited. Never rejects; stays pending when it was not started. */
  readonly exited: Promise<ProcessExit>
  /** How long after its pipes have closed its exit may become known; default two seconds. */
  readonly exitKnownMs?: number
  /** Resolves when it has exited and its output was read. */
  readonly closed: Promise<void>
  /** Ends the process and all its descendants. Never rejects. */
  end(): Promise<void>
}

/** Follows a process from its start, and decides how it ends. */
export interface ProcessKeeper {
  spawned(child: ChildProcess): void
  /** Ends the process and all its descendants. Never rejects. */
  end(child: ChildProcess): Promise<void>
}

/**
 * @param context the working directory of a server without a `cwd`, from which a relative one counts, and the variables
 * that it inherits
 * @param launch what to start instead, with the server inside
 * @param keeper missing means that nothing about its end is special
 * @throws NodeJS.ErrnoException when its working directory does not exist or its command line is invalid
 */
export function spawnServer(
  server: StdioServer,
  { cwd, env: inherited }: Pick<ClientContext, 'cwd' | 'env'>,
  launch?: Launch,
  keeper?: ProcessKeeper,
): ServerProcess {
  const { command, args, env, extraInput } = launch ?? {
    ...server,
    env: mergedEnvironment([passedEnvironment(inherited), server.env]),
    extraInput: undefined,
  }
  const folder = path.resolve(cwd, server.cwd ?? '')
  if (!existsSync(`${folder}/.`)) {
    // Without this check, Node would report the program as missing, or locked.
    const why = existsSync(folder) ? 'may not be entered' : 'does not exist'
    throw Object.assign(new Error(`its working directory ${why}`), { code: 'ENOTDIR' })
  }
  const child = spawnCommand(command, args, {
    env,
    cwd: folder,
    detached: process.platform !== 'win32',
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe', ...(extraInput ? (['pipe'] as const) : [])],
  })
  const extra = (child.stdio as typeof child.stdio | undefined)?.[3] as Writable | null | undefined
  extra?.on('error', () => {}).end(extraInput)
  const { stdin, stdout, stderr } = child
  return {
    stdin,
    stdout,
    stderr,
    started: new Promise((resolve, reject) => {
      child.once('spawn', () => {
        trackGroup(child.pid!)
        keeper?.spawned(child)
        resolve()
      })
      child.once('error', (error) => reject(startError(error, command, env?.['PATH'])))
    }),
    exited: new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }))
      // On Windows, cross-spawn says so in place of the exit of cmd.exe, which has found no such command.
      const onError = (error: NodeJS.ErrnoException): void => {
        if (error.code === 'ENOENT')
          resolve({ code: 1, signal: null, notStarted: startError(error, command, env['PATH']) })
      }
      child.once('spawn', () => child.once('error', onError))
    }),
    closed: new Promise((resolve) => child.once('close', () => resolve())),
    end: () => (keeper ? keeper.end(child) : endGroup(child)),
  }
}

/** With the PATH, for a name. A folder of it that may not be entered makes a missing command look locked. */
function startError(
  error: NodeJS.ErrnoException,
  command: string,
  searchPath = '',
): NodeJS.ErrnoException & { searchPath?: string } {
  if (path.basename(command) !== command || !['EACCES', 'ENOENT'].includes(error.code ?? '')) return error
  const isThere = searchPath.split(path.delimiter).some((folder) => existsSync(path.join(folder, command)))
  if (error.code === 'EACCES' && isThere) return error
  return Object.assign(new Error('the command was not found'), { code: 'ENOENT', searchPath })
}

declare module 'cross-spawn' {
  interface Parsed {
    command: string
    args: string[]
    options: SpawnOptions
  }
  /** What it would start. */
  function _parse(command: string, args: readonly string[], options: SpawnOptions): Parsed
  const _enoent: { hookChildProcess(child: ChildProcess, parsed: Parsed): void }
}

/** What Windows starts without an extension, where no variable says it. */
const SCRIPTS = ['.com', '.exe', '.bat', '.cmd']

/** As cross-spawn does, but that looks in the working folder first: here, `foundProgram` finds every program. */
function spawnCommand(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const extensions = environmentOf(options.env ?? {})['PATHEXT']?.split(';') ?? SCRIPTS
  const named = foundProgram(command, options.env, extensions)
  const parsed = crossSpawn._parse(named.file, args, { ...options, env: named.env })
  if (parsed.options.windowsVerbatimArguments && /\.(cmd|bat)$/i.test(named.file))
    parsed.args = ['/d', '/s', '/c', scriptLine(named.file, args)]
  // cmd.exe for a script, or what the first line of a file names.
  const found = foundProgram(parsed.command, named.env)
  const child = spawn(found.file, parsed.args, parsed.options)
  crossSpawn._enoent.hookChildProcess(child, parsed)
  return child
}

/** What cmd.exe takes for the text itself. */
const forCmd = (text: string): string => text.replaceAll(/[()\][%!^"`<>&|;, *?]/g, '^$&')

/**
 * The line for cmd.exe that starts a script. One such as npx.cmd hands its words on in another line, where a quote in
 * one of them leaves those behind it open: `&` would begin a command. Then all are escaped for both lines.
 */
export function scriptLine(file: string, args: readonly string[]): string {
  const isReadTwice = args.some((arg) => arg.includes('"')) || /node_modules[\\/]\.bin[\\/]/.test(file)
  const words = args
    .map((arg) => forCmd(`"${arg.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`))
    .map((word) => (isReadTwice ? forCmd(word) : word))
  return `"${[forCmd(path.win32.normalize(file)), ...words].join(' ')}"`
}
