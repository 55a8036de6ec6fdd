// Definitions as they may be shown and logged: enough to recognise a server by, and no value that could be a secret. Pure.
import type { ServerDefinition } from './server-definition.ts'

/** What `sandbridge servers --json` tells about one server. */
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
  /** Scheme, host and port. */
  origin?: string
  /** Names of headers, never their values. */
  headers?: string[]
}

/** Definitions without their secrets: no argument, value of a variable or header, path or query of an address. */
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
        }
      : { origin: originOf(transport.url), headers: Object.keys(transport.headers) }),
  }))
}

/** The base name of a command. Should somebody have written a whole command line there, only its first word is looked at. */
function programName(command: string): string {
  const windowsProgram = /^[A-Za-z]:\\[^=]*\\([^\\/\s=]+\.(?:exe|cmd|bat))$/i.exec(command)?.[1]
  if (windowsProgram !== undefined) return windowsProgram
  const first = command.trim().split(/\s/)[0] ?? ''
  return first.includes('=') ? '' : (first.split(/[/\\]/).at(-1) ?? '')
}

/** A placeholder in an address may stand for a secret or for all of it; what is no address has no origin. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : ''
}
