// Describes definitions for display and logs: enough to recognise a server, without possible secrets. Pure.
import type { ServerDefinition, ServerSandbox } from '@sandbridge/core/config/entries'

/** One server in the output of `sandbridge servers --json`. */
export interface ServerSummary {
  name: string
  description?: string
  client: string
  file: string
  trusted: boolean
  type: 'stdio' | 'http' | 'sse'
  /** The base name of the command. */
  command?: string
  argsCount?: number
  /** Names of variables, never their values. */
  env?: string[]
  /** What its jail allows; missing when it is not jailed. */
  jailed?: string
  /** Scheme, host and port. */
  origin?: string
  /** Names of headers, never their values. */
  headers?: string[]
}

/** Removes secrets from definitions: arguments, values of variables and headers, and the path and query of a URL. */
export function describeServers(definitions: readonly ServerDefinition[]): ServerSummary[] {
  return definitions.map(({ name, description, source, trusted, transport }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    client: source.client,
    file: source.file,
    trusted: trusted !== false,
    type: transport.type,
    ...(transport.type === 'stdio'
      ? {
          command: programName(transport.command),
          argsCount: transport.args.length,
          env: [...new Set([...Object.keys(transport.env), ...(transport.inheritEnv ?? [])])],
          ...(transport.sandbox && { jailed: describeJail({ transport }) ?? '' }),
        }
      : { origin: originOf(transport.url), headers: Object.keys(transport.headers) }),
  }))
}

/**
 * The base name of a command, unless it could be a secret in the wrong field. If a whole command line was entered
 * there, only its first word is used.
 */
function programName(command: string): string {
  const windowsProgram = /^[A-Za-z]:\\[^=]*\\([^\\/\s=]+\.(?:exe|cmd|bat))$/i.exec(command)?.[1]
  const first = command.trim().split(/\s/)[0] ?? ''
  const name = windowsProgram ?? (first.includes('://') ? '' : (first.split(/[/\\]/).at(-1) ?? ''))
  return PROGRAM_NAME.test(name) && !looksSecret(name) ? name : ''
}

const PROGRAM_NAME = /^[\p{L}\p{N}][\p{L}\p{N}._+-]{0,63}$/u

/** Tokens and keys have a long random run of letters and digits; program names consist of words and versions. */
function looksSecret(name: string): boolean {
  const count = (text: string, kind: RegExp): number => text.match(kind)?.length ?? 0
  const isRandom = (run: string): boolean => run.length >= 10 && count(run, /\d/g) >= 2 && count(run, /[a-z]/gi) >= 2
  return name.split(/[^A-Za-z\d]+/).some(isRandom) || /^(?:sk|pk|gh[opusr]|xox[a-z]|glpat|eyJ)[-_.\w]{12,}$/.test(name)
}

/** A placeholder in a URL may stand for a secret or for the whole URL. An invalid URL has no origin. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : ''
}

/** Undefined when the server is not jailed. */
export function describeJail({ transport }: Pick<ServerDefinition, 'transport'>): string | undefined {
  if (transport.type !== 'stdio' || !transport.sandbox) return undefined
  const { allowRead = [], allowWrite = [], denyRead = [] } = transport.sandbox.filesystem ?? {}
  const parts = [
    networkText(transport.sandbox.network),
    allowWrite.length > 0 ? `writes to ${allowWrite.join(', ')}` : 'writes to its own home folder only',
    ...(allowRead.length > 0 ? [`reads ${allowRead.join(', ')}`] : []),
    ...(denyRead.length > 0 ? [`never reads ${denyRead.join(', ')}`] : []),
    ...(transport.sandbox.image === undefined ? [] : [`image ${transport.sandbox.image}`]),
  ]
  return parts.join('; ')
}

function networkText(network: ServerSandbox['network']): string {
  if (network === true) return 'network of this machine'
  if (!network || network.allowedDomains.length === 0) return 'no network'
  const { allowedDomains, deniedDomains = [] } = network
  const allowed = allowedDomains.includes('*') ? 'the public internet' : allowedDomains.join(', ')
  return `network: ${allowed}${deniedDomains.length > 0 ? ` without ${deniedDomains.join(', ')}` : ''}`
}
