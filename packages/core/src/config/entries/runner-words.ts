// The words of a command line whose program runs another program or a package. Pure.

/** Programs whose arguments name the program to run. */
const RUNNERS = new Set(
  [
    'npx bunx pnpx npm pnpm yarn bun deno node nodejs tsx ts-node uvx uv pipx python python3 py',
    'exec sh bash zsh dash fish cmd powershell pwsh wsl env sudo nice docker podman nerdctl',
  ].flatMap((line) => line.split(' ')),
)

const ENGINES = new Set(['docker', 'podman', 'nerdctl'])

/** Sub-commands of a runner, not programs. */
const SUBCOMMANDS = new Set(['run', 'exec', 'x', 'dlx', 'tool', 'container'])

/** Options of package runners that name the package to run. */
const PACKAGE_OPTIONS = new Set(['-p', '--package', '--from', '--spec', '--with'])

// Options without a value. Any other option before the program without a `=` counts as having one.
const LONE_OPTION =
  /^(-[yqsiumAc]|-[li]c|--|--(yes|quiet|silent|bun|isolated|refresh|offline|enable-.*|use-system-ca|experimental-.*|no-.*|allow-.*|prefer-.*))$/
/** Of cmd.exe and PowerShell, which read them in any case. */
const LONE_WINDOWS_OPTION = /^(\/[a-z](:\w+)?|-(noprofile|command|noninteractive|nologo))$/i
const LONE_ENGINE_OPTION =
  /^(-[itd]+|--(rm|init|interactive|tty|detach|privileged|read-only|publish-all|no-healthcheck|replace))$/

export interface RunnerTarget {
  /** Sub-commands, such as `tool` and `run` of `uv tool run`. */
  subcommands: string[]
  /** Packages that options name. */
  packages: string[]
  /** The program with its arguments; empty when there is none. */
  program: string[]
}

/** The name of the runner that a command is; undefined for another program. */
export function runnerOf(command: string): string | undefined {
  // `npx-cli.js` is npx for the Node that is told to run it.
  const name = programName(command)
    .replace(/\.\d+$/, '')
    .replace(/^(np[mx])-cli$/, '$1')
  return RUNNERS.has(name) ? name : undefined
}

export function runnerTarget(runner: string, args: readonly string[]): RunnerTarget {
  const loneOption = ENGINES.has(runner) ? LONE_ENGINE_OPTION : LONE_OPTION
  const target: RunnerTarget = { subcommands: [], packages: [], program: [] }
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? ''
    if (LONE_WINDOWS_OPTION.test(word)) continue
    if (word.startsWith('-')) {
      const [option = '', value] = word.split('=', 2)
      const packageName = PACKAGE_OPTIONS.has(option) ? (value ?? args[index + 1]) : undefined
      if (packageName !== undefined) target.packages.push(packageName)
      if (value === undefined && !loneOption.test(word)) index++
    } else if (SUBCOMMANDS.has(word)) target.subcommands.push(word)
    else if (!/^\w+=/.test(word)) {
      target.program = args.slice(index)
      break
    }
  }
  return target
}

/** `C:\bin\NPX.CMD` → `npx`: Windows starts programs by their names in any case. */
export function programName(word: string): string {
  const name = word.split(/[/\\]/).at(-1) ?? ''
  return name.toLowerCase().replace(/\.(exe|cmd|bat|ps1|[cm]?js|ts|py|git)$/, '')
}
