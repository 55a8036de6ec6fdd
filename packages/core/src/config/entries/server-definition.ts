// The definition of an upstream: how to start it, and where it was read. Its values, secret arguments and credentials
// never enter a sandbox, a frame, a log line or an error. Only expand.ts fills in placeholders, at the start. Pure.
import type { ClientCredentials, ServerInput, ServerSandbox, SignInClient } from './entry-schema.ts'
import type { RuleLists } from '../rules/permissions-schema.ts'

export type { ClientCredentials, ServerInput, ServerSandbox, SignInClient }

/** A valid name of a container image on a command line. */
export const IMAGE_NAME = /^[a-z0-9][\w.\-/:@]*$/i

export interface StdioServer {
  type: 'stdio'
  command: string
  args: string[]
  env: Record<string, string>
  cwd?: string
  /** A file with NAME=value lines, added to `env`. */
  envFile?: string
  /** Variables of the bridge's environment that the server gets if they are set. */
  inheritEnv?: string[]
  /** Runs it in a jail; missing means without one. */
  sandbox?: ServerSandbox
  /** After the placeholders are filled in: values inside the texts above that are secrets by themselves. */
  secrets?: string[]
}

/** An upstream over HTTP: `http` is Streamable HTTP, `sse` the older HTTP+SSE. */
export interface RemoteServer {
  type: 'http' | 'sse'
  url: string
  headers: Record<string, string>
  /** A command that prints further headers, for the shell. */
  headersHelper?: string
  /** Credentials with which the bridge signs in. Missing: a user does, if the server requires it. */
  oauth?: ClientCredentials
  /** For the sign-in of a user. */
  signIn?: SignInClient
  /** As in StdioServer. */
  secrets?: string[]
}

/** Hashes of texts by absolute path. */
export type CoveredFiles = Readonly<Record<string, string>>

export interface ServerDefinition {
  /** As configured; unique among the definitions of one bridge. */
  name: string
  /** What its entry is called in its file, or was called before: rules that restrict such a name restrict it. */
  otherNames?: readonly string[]
  transport: StdioServer | RemoteServer
  description?: string
  /** Where it was read. */
  source: { client: string; file: string }
  /** Defined by a project. Missing means that the user configured it. */
  isProjects?: true
  /** For a project's server: the files that it inserts, as the user trusted them. */
  covers?: CoveredFiles
  /** Added from a registry: its publisher wrote the arguments. In a jail, what they name is not opened. */
  isPublishers?: true
  /** False for a server of a project that the user has not trusted; it is only in `untrusted`. */
  trusted?: boolean
  /** The tools that may be seen and called; `exclude` wins. Missing means all. */
  tools?: { include?: string[]; exclude?: string[] }
  /** Rules about calls of its tools. */
  permissions?: RuleLists
  /** Descriptions of its inputs, for those that its file describes. */
  inputs?: ServerInput[]
  /** The user trusts its text: the model may act on it. Never set for a server of a project. */
  isOwnText?: true
  /** The user exempts it from a jail that the settings require for all servers. */
  unjailed?: true
  /** Start timeout, if configured. */
  startTimeoutMs?: number
  /** Timeout of one call, if configured. */
  callTimeoutMs?: number
  /** How many calls may be open at once, if configured. */
  atOnce?: number
  /** Its tools, or those with these names, are also listed to the client by themselves. */
  direct?: boolean | string[]
  /** Whether clients of one bridge use one process of it; true: also clients of different folders. */
  shared?: boolean
  /** Every call is made, also one that a cell repeats whose result was lost. */
  repeat?: 'always'
}

/** Something in a config file that was skipped, and why, for the file's owner. */
export interface SkippedEntry {
  file: string
  name?: string
  reason: string
  /** `unread`: the whole file, because it cannot be read or parsed. `self`: an entry that is this bridge itself. */
  kind?: 'unread' | 'self'
}

export interface ConfigFileRead {
  client: string
  file: string
  /** The number of servers that it defines, including duplicates. */
  serverCount: number
  /** False for a project's file that the user has not trusted. */
  trusted: boolean
  /** Hash of what was read: its text, and for a project's file the texts of the files that it inserts. */
  hash: string
}

/** A server in a file, and its name in this bridge. */
export interface FoundServer {
  /** Under the name in its file. */
  definition: ServerDefinition
  name: string
  /** It duplicates an earlier one, which stands for both. */
  isDouble: boolean
}

export interface DiscoveredServers {
  /** Servers that may be started. */
  servers: ServerDefinition[]
  /** Servers of projects that the user has not trusted: listed, but never started. */
  untrusted: ServerDefinition[]
  /** All servers including duplicates, in order of precedence. */
  found: FoundServer[]
  skipped: SkippedEntry[]
  /** In order of precedence. */
  files: ConfigFileRead[]
}
