// Starts the command of a server. Windows cannot spawn `npx`: it is a .cmd file, which needs a shell and its quoting.
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process'
import crossSpawn from 'cross-spawn'
import { environmentOf } from '../../util/process/environment.ts'
import { foundProgram } from '../../util/process/find-program.ts'

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
export function spawnCommand(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const extensions = environmentOf(options.env ?? {})['PATHEXT']?.split(';') ?? SCRIPTS
  const named = foundProgram(command, options.env, extensions)
  const parsed = crossSpawn._parse(named.file, args, { ...options, env: named.env })
  // cmd.exe for a script, or what the first line of a file names.
  const found = foundProgram(parsed.command, named.env)
  const child = spawn(found.file, parsed.args, parsed.options)
  crossSpawn._enoent.hookChildProcess(child, parsed)
  return child
}
