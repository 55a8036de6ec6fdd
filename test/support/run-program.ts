// Runs a program to its end and collects its output.
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

export interface ProgramResult {
  code: number | null
  stdout: string
  stderr: string
}

export async function runProgram(
  command: string,
  args: string[],
  env: Record<string, string>,
  options: { cwd?: string; input?: string | Uint8Array } = {},
): Promise<ProgramResult> {
  const child = spawn(command, args, { env, ...(options.cwd && { cwd: options.cwd }), stdio: 'pipe' })
  child.stdin.on('error', () => {})
  child.stdin.end(options.input)
  const exited = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exited])
  return { code, stdout, stderr }
}
