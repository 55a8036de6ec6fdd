// Recognises a command line that lets a package manager install a server and then run it. Pure.
import { commandsIn, programName, runnerOf, runnerTarget, WRAPPERS } from '@sandbridge/core/config/entries'

export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun' | 'uv' | 'pipx'

export interface PackageLaunch {
  manager: PackageManager
  /** The packages as written, with their versions. */
  packages: string[]
}

/** By program, and for those that can do something else, the sub-command that runs a package. */
const LAUNCHERS: Record<string, { manager: PackageManager; subcommand?: RegExp }> = {
  npx: { manager: 'npm' },
  npm: { manager: 'npm', subcommand: /^(exec|x)$/ },
  pnpx: { manager: 'pnpm' },
  pnpm: { manager: 'pnpm', subcommand: /^dlx$/ },
  yarn: { manager: 'yarn', subcommand: /^dlx$/ },
  bunx: { manager: 'bun' },
  bun: { manager: 'bun', subcommand: /^x$/ },
  uvx: { manager: 'uv' },
  uv: { manager: 'uv', subcommand: /^(tool run|run)$/ },
  pipx: { manager: 'pipx', subcommand: /^run$/ },
}

/** Undefined for a command that installs nothing. */
export function packageLaunch(command: string, args: readonly string[]): PackageLaunch | undefined {
  const name = programName(command)
  const runner = runnerOf(command)
  if (runner === undefined) return undefined
  const { subcommands, packages, program } = runnerTarget(runner, args)
  if (WRAPPERS.has(name)) {
    for (const [first = '', ...rest] of commandsIn(program)) {
      const launch = packageLaunch(first, rest)
      if (launch !== undefined) return launch
    }
    return undefined
  }
  const launcher = Object.hasOwn(LAUNCHERS, name) ? LAUNCHERS[name]! : undefined
  if (!launcher || (launcher.subcommand && !launcher.subcommand.test(subcommands.join(' ')))) return undefined
  return { manager: launcher.manager, packages: packages.length > 0 ? packages : program.slice(0, 1) }
}
