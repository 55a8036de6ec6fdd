// Recognises a definition that would start this bridge again or that is its own URL: a bridge behind itself would list itself forever. Pure.
// Checks the program that a command line runs, not every word: a server may be given a folder called sandbridge.
import type { RemoteServer, StdioServer } from './server-definition.ts'

/** This package, and the system it re-creates. */
const OWN_NAME = /^(sandbridge|mcp[-_]server[-_]code[-_]execution[-_]mode)$/i

const ENGINES = new Set(['docker', 'podman', 'nerdctl'])

/** Programs whose arguments name the program to run. */
const RUNNERS = new Set(
  [
    'npx bunx pnpx npm pnpm yarn bun deno node nodejs tsx ts-node uvx uv pipx python python3 py',
    'exec sh bash zsh dash fish cmd powershell pwsh wsl env sudo nice docker podman nerdctl',
  ].flatMap((line) => line.split(' ')),
)

/** Sub-commands of a runner, not programs. */
const SUBCOMMANDS = new Set(['run', 'exec', 'x', 'dlx', 'tool', 'container'])

/** Options of package runners that name the package to run. */
const PACKAGE_OPTIONS = new Set(['-p', '--package', '--from', '--spec', '--with'])

// Options without a value. Any other option before the program without a `=` counts as having one.
const LONE_OPTION =
  /^(-[yqsiumAc]|-[li]c|\/[cds]|-(NoProfile|Command|NonInteractive)|--|--(yes|quiet|silent|bun|isolated|refresh|offline|enable-.*|use-system-ca|experimental-.*|no-.*|allow-.*|prefer-.*))$/
const LONE_ENGINE_OPTION =
  /^(-[itd]+|--(rm|init|interactive|tty|detach|privileged|read-only|publish-all|no-healthcheck|replace))$/

/** @param ownPaths the paths of this bridge's own script. */
export function launchesBridge(transport: StdioServer | RemoteServer, ownPaths: readonly string[]): boolean {
  return transport.type === 'stdio' && runsBridge([transport.command, ...transport.args], ownPaths)
}

/** @param ownPort the port of this bridge, if it serves HTTP */
export function reachesBridge(transport: StdioServer | RemoteServer, ownPort: number | undefined): boolean {
  if (transport.type === 'stdio' || ownPort === undefined || !URL.canParse(transport.url)) return false
  const { protocol, hostname, port } = new URL(transport.url)
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
  return isLocal && protocol === 'http:' && Number(port || 80) === ownPort
}

function runsBridge(words: string[], ownPaths: readonly string[]): boolean {
  const [command, ...rest] = words
  if (command === undefined) return false
  if (isBridge(command, ownPaths)) return true
  // A whole command line in one word: sh -c "cd x && npx sandbridge", or a command that includes its arguments.
  if (/\s/.test(command)) {
    const lines = command.split(/&&|\|\||[;|]/).map((line) => line.trim().split(/\s+/))
    if (lines.some((line) => runsBridge(line, ownPaths))) return true
  }

  const runner = programName(command).replace(/\.\d+$/, '')
  if (!RUNNERS.has(runner)) return false
  const loneOption = ENGINES.has(runner) ? LONE_ENGINE_OPTION : LONE_OPTION
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index] ?? ''
    if (/^-|^\/[a-z]$/i.test(word)) {
      const [option = '', value] = word.split('=', 2)
      const packageName = PACKAGE_OPTIONS.has(option) ? (value ?? rest[index + 1]) : undefined
      if (packageName !== undefined && isBridge(packageName, ownPaths)) return true
      if (value === undefined && !loneOption.test(word)) index++
    } else if (!SUBCOMMANDS.has(word) && !/^\w+=/.test(word)) {
      return runsBridge(rest.slice(index), ownPaths)
    }
  }
  return false
}

function isBridge(word: string, ownPaths: readonly string[]): boolean {
  if (ownPaths.includes(word) || /[/\\]sandbridge[/\\](dist|src)[/\\]cli\.[jt]s$/i.test(word)) return true
  // For a package, an image, a repository or a script, the name is what remains without folders, version, tag and suffix.
  return OWN_NAME.test(programName(word.replace(/(?<=.)[@:#[=<>~][^/\\]*$/, '')))
}

/** `C:\bin\npx.cmd` → `npx`. */
function programName(word: string): string {
  return (word.split(/[/\\]/).at(-1) ?? '').replace(/\.(exe|cmd|bat|ps1|[cm]?js|ts|py|git)$/i, '')
}
