// Runs a program to its end and collects its output.
import { type ChildProcess, spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { HostedProcess } from '../bridges/bridge-host/hosted-process.ts'
import { canBeHosted, CLI, PLAIN_CLI } from '../bridges/bridge-process.ts'

export interface ProgramResult {
  code: number | null
  stdout: string
  stderr: string
}

interface ProgramOptions {
  cwd?: string
  input?: string | Uint8Array
}

export async function runProgram(
  command: string,
  args: string[],
  env: Record<string, string>,
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  return collect(spawn(command, args, { env, ...(options.cwd && { cwd: options.cwd }), stdio: 'pipe' }), options)
}

/**
 * Runs a command of the built program. Where a host plays bridges, it plays the command as well. Not for a test of what
 * is of the process, nor for a command that takes a file relative to its folder, which is that of the host.
 * @param args what is typed after `sandbridge`
 */
export async function runCommand(
  args: string[],
  env: Record<string, string>,
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  if (!canBeHosted(env)) return runProgram(process.execPath, [CLI, ...args], env, options)
  return collect(new HostedProcess({ cli: PLAIN_CLI, args, env, cwd: options.cwd ?? process.cwd() }), options)
}

async function collect(child: ChildProcess | HostedProcess, { input }: ProgramOptions): Promise<ProgramResult> {
  const { stdin, stdout, stderr } = child as HostedProcess
  stdin.on('error', () => {})
  stdin.end(input)
  const exited = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  const [out, error, code] = await Promise.all([text(stdout), text(stderr), exited])
  return { code, stdout: out, stderr: error }
}
