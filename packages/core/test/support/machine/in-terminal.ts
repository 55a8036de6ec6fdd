// Runs a program in a new terminal, which Python creates. Skips the test without Python.
import path from 'node:path'
import { ROOT } from '../bridges/bridge-process.ts'
import { needsPosix, needsProgram } from '../suite/needs.ts'
import { type ProgramResult, runProgram } from './run-program.ts'

const DRIVER = path.join(ROOT, 'packages/core/test/fixtures/in-terminal.py')

export type Step = [shown: string, typed: string]

interface TerminalOptions {
  cwd?: string
  steps?: Step[]
}

/** Call it before a test prepares what the terminal's program waits for. */
export function needsTerminal(): void {
  needsPosix('Windows has other terminals')
  needsProgram('python3')
}

/** Types an answer to each text that the program shows. */
export function runInTerminal(
  command: string[],
  env: Record<string, string>,
  { cwd, steps = [] }: TerminalOptions = {},
): Promise<ProgramResult> {
  needsTerminal()
  // A Python that pyenv has found puts its own folders first.
  const search = env['PATH'] === undefined ? [] : ['env', `PATH=${env['PATH']}`]
  const args = [DRIVER, JSON.stringify(steps), ...search, ...command]
  return runProgram('python3', args, { TERM: 'xterm-256color', ...env }, { ...(cwd && { cwd }) })
}

/** The terminal's output, with plain line ends, and escape sequences as `<32m`. */
export async function inTerminal(
  command: string[],
  env: Record<string, string>,
  options?: TerminalOptions,
): Promise<string> {
  const { stdout } = await runInTerminal(command, env, options)
  return stdout.replaceAll('\r\n', '\n').replaceAll('\u001b[', '<')
}
