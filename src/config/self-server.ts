// Recognises a definition that would start this bridge again, or that is its own address: a bridge behind a bridge would list itself for ever. Pure.
// It looks at what a command line runs, not at every word of it: a server may well be given a folder that is called sandbridge.
import type { RemoteServer, StdioServer } from './server-definition.ts'

/** Our own package, and the system this one re-creates. */
const OWN_NAME = /^(sandbridge|mcp[-_]server[-_]code[-_]execution[-_]mode)$/i

const ENGINES = new Set(['docker', 'podman', 'nerdctl'])

/** Programs whose arguments name the program that is really run. */
const RUNNERS = new Set(
  [
    'npx bunx pnpx npm pnpm yarn bun deno node nodejs tsx ts-node uvx uv pipx python python3 py',
    'exec sh bash zsh dash fish cmd powershell pwsh wsl env sudo nice docker podman nerdctl',
  ].flatMap((line) => line.split(' ')),
)

/** Words that are a runner's sub-command and not the program. */
const SUBCOMMANDS = new Set(['run', 'exec', 'x', 'dlx', 'tool', 'container'])

/** Options of package runners that name the package to run. */
const PACKAGE_OPTIONS = new Set(['-p', '--package', '--from', '--spec', '--with'])

// Options without a value. Any other option before the program, unless it has a `=`, is taken to have one.
const LONE_OPTION =
  /^(-[yqsiumAc]|-[li]c|\/[cds]|-(NoProfile|Command|NonInteractive)|--|--(yes|quiet|silent|bun|isolated|refresh|offline|enable-.*|use-system-ca|experimental-.*|no-.*|allow-.*|prefer-.*))$/
const LONE_ENGINE_OPTION =
  /^(-[itd]+|--(rm|init|interactive|tty|detach|privileged|read-only|publish-all|no-healthcheck|replace))$/

/** @param ownPaths by which paths this bridge's own script is known. */
export function launchesBridge(transport: StdioServer | RemoteServer, ownPaths: readonly string[]): boolean {
  return transport.type === 'stdio' && runsBridge([transport.command, ...transport.args], ownPaths)
}

/** @param ownPort what this bridge listens on, if it serves over HTTP */
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
  // A whole command line in one word: sh -c "cd x && npx sandbridge", or a command with its arguments in it.
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
  // A package, an image, a repository or a script: what is left without folders, version, tag and suffix is its name.
  return OWN_NAME.test(programName(word.replace(/(?<=.)[@:#[=<>~][^/\\]*$/, '')))
}

/** `C:\bin\npx.cmd` → `npx`. */
function programName(word: string): string {
  return (word.split(/[/\\]/).at(-1) ?? '').replace(/\.(exe|cmd|bat|ps1|[cm]?js|ts|py|git)$/i, '')
}
