// A server's process as its transport needs it, wherever it runs, and the kind that is a child of ours.
import type { ChildProcess } from 'node:child_process'
// Windows cannot spawn `npx`: it is a .cmd file, which needs a shell and its quoting.
import spawn from 'cross-spawn'
import { existsSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { passedEnvironment } from '../../config/passed-variables.ts'
import type { StdioServer } from '../../config/server-definition.ts'
import { endGroup, trackGroup } from '../../process/process-group.ts'
import type { Launch } from './jail/open-jail.ts'

export interface ProcessExit {
  code: number | null
  signal: NodeJS.Signals | null
  /** What completes a sentence about the server, where that says more than code and signal. */
  why?: string
}

/** There are no streams where it could not be started for want of file descriptors. */
export interface ServerProcess {
  readonly stdin: Writable | null
  readonly stdout: Readable | null
  readonly stderr: Readable | null
  /** Resolves when it runs. @throws NodeJS.ErrnoException, Error that says why it does not */
  readonly started: Promise<void>
  /** Resolves once, when it has ended. Never rejects; pending for ever where it was not started. */
  readonly exited: Promise<ProcessExit>
  /** Resolves when it has ended and its output was read. */
  readonly closed: Promise<void>
  /** End it with all that it has started. Never rejects. */
  end(): Promise<void>
}

/**
 * @param cwd where a server without a `cwd` of its own is started
 * @param launch what is started in its place, with the server inside
 * @throws NodeJS.ErrnoException when its folder is not there, or its command line cannot be one
 */
export function spawnServer(server: StdioServer, cwd?: string, launch?: Launch): ServerProcess {
  const { command, args, env, extraInput } = launch ?? {
    ...server,
    env: { ...passedEnvironment(), ...server.env },
    extraInput: undefined,
  }
  const folder = server.cwd ?? cwd
  if (folder !== undefined && !existsSync(folder)) {
    // Without this check Node reports the program as missing.
    throw Object.assign(new Error('its working directory does not exist'), { code: 'ENOTDIR' })
  }
  const child: ChildProcess = spawn(command, args, {
    env,
    cwd: folder,
    detached: process.platform !== 'win32',
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe', ...(extraInput ? (['pipe'] as const) : [])],
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const extra = child.stdio[3] as Writable | null | undefined
  extra?.on('error', () => {}).end(extraInput)
  const { stdin, stdout, stderr } = child
  return {
    stdin,
    stdout,
    stderr,
    started: new Promise((resolve, reject) => {
      child.once('spawn', () => {
        trackGroup(child.pid!)
        resolve()
      })
      child.once('error', reject)
    }),
    exited: new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal }))),
    closed: new Promise((resolve) => child.once('close', () => resolve())),
    end: () => endGroup(child),
  }
}
