// Runs a program in a new terminal, which Python creates.
import path from 'node:path'
import { ROOT } from './bridge-process.ts'
import { runProgram } from './run-program.ts'

/** The terminal's output, with plain line ends, and escape sequences as `<32m`. */
export async function inTerminal(
  command: string[],
  env: Record<string, string>,
  { cwd, steps = [] }: { cwd?: string; steps?: [string, string][] } = {},
): Promise<string> {
  const program = path.join(ROOT, 'test/fixtures/in-terminal.py')
  const { stdout } = await runProgram(
    'python3',
    [program, JSON.stringify(steps), ...command],
    { TERM: 'xterm-256color', ...env },
    {
      ...(cwd && { cwd }),
    },
  )
  return stdout.replaceAll('\r\n', '\n').replaceAll('\u001b[', '<')
}
