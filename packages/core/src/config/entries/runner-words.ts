// The words of a command line whose program runs another program or a package. Pure.

const WRAPPING =
  'exec sh bash zsh dash fish cmd conhost powershell pwsh wsl env sudo nice arch caffeinate volta fnm mise asdf'

/** Programs whose arguments name the program to run. */
const RUNNERS = new Set(
  [
    WRAPPING,
    'npx bunx pnpx npm pnpm yarn bun deno node nodejs tsx ts-node uvx uv pipx python python3 py docker podman nerdctl',
  ].flatMap((line) => line.split(' ')),
)

/** Those that run any command. The last two are words of cmd.exe, and names that a script may have. */
export const WRAPPERS: ReadonlySet<string> = new Set([...WRAPPING.split(' '), 'call', 'start'])

/** Sub-commands of a runner, not programs. */
const SUBCOMMANDS = new Set(['run', 'exec', 'x', 'dlx', 'tool', 'container'])

/** Options of package runners that name the package to run. */
const PACKAGE_OPTIONS = new Set(['-p', '--package', '--from', '--spec', '--with'])

// Options without a value. Any other option before the program without a `=` counts as having one.
const LONE_OPTION =
  /^(-[yqsumA]|-[lic]+|-arm64e?|-x86_64|--|--(yes|quiet|silent|bun|isolated|refresh|offline|headless|enable-.*|use-system-ca|experimental-.*|no-.*|allow-.*|prefer-.*))$/
/** Of cmd.exe and its `start`, which read them in any case. */
const LONE_WINDOWS_OPTION = /^\/([a-z](:\w+)?|wait|min)$/i
/** PowerShell takes the beginning of a name for it. */
const LONE_POWERSHELL_OPTION = /^-(nop\w*|noni\w*|nol\w*|sta|mta|c\w*|f\w*)$/i
/** Of what runs a command as another user, or elsewhere. */
const LONE_USER_OPTION = /^(-[eEHnS]|--|--(exec|system|non-interactive|preserve-env|set-home))$/
const LONE_ENGINE_OPTION =
  /^(-[itd]+|--(rm|init|interactive|tty|detach|privileged|read-only|publish-all|no-healthcheck|replace))$/

function loneOptionOf(runner: string): RegExp {
  if (/^(?:docker|podman|nerdctl)$/.test(runner)) return LONE_ENGINE_OPTION
  if (/^(?:powershell|pwsh)$/.test(runner)) return LONE_POWERSHELL_OPTION
  return /^(?:sudo|wsl)$/.test(runner) ? LONE_USER_OPTION : LONE_OPTION
}

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
  return RUNNERS.has(name) || /^(?:call|start)$/i.test(command) ? name : undefined
}

export function runnerTarget(runner: string, args: readonly string[]): RunnerTarget {
  const loneOption = loneOptionOf(runner)
  const target: RunnerTarget = { subcommands: [], packages: [], program: [] }
  // `mise exec node@22 -- npx`
  for (let index = runner === 'mise' ? args.indexOf('--') + 1 : 0; index < args.length; index++) {
    const word = args[index] ?? ''
    if (word === '' || LONE_WINDOWS_OPTION.test(word)) continue
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

/**
 * The commands that the words of a shell begin, which may be in one word, or in several that cmd.exe joins:
 * `chcp 65001 && "C:\Program Files\nodejs\npx.cmd" -y some-server`.
 */
export function commandsIn(words: readonly string[]): string[][] {
  const [first = ''] = words
  const lines = /\s/.test(first) ? first.split(/&&?|\|\|?|[;\n]/) : []
  const commands = lines.map((line) =>
    Array.from(line.matchAll(/"([^"]*)"|'([^']*)'|[^\s"']+/g), ([word, double, single]) => double ?? single ?? word),
  )
  const ends = [...words.keys()].filter((at) => /^(?:&&?|\|\|?|;)$/.test(words[at]!)).concat(words.length)
  return [...ends.map((end, index) => words.slice(index === 0 ? 0 : ends[index - 1]! + 1, end)), ...commands]
}

/** `C:\bin\NPX.CMD` → `npx`: Windows starts programs by their names in any case. */
export function programName(word: string): string {
  const name = word.split(/[/\\]/).at(-1) ?? ''
  return name.toLowerCase().replace(/\.(exe|cmd|bat|ps1|[cm]?js|ts|py|git)$/, '')
}
