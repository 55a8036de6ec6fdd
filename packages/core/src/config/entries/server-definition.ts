// The definition of an upstream: how to start it, and where it was read. Its values, secret arguments and credentials
// never enter a sandbox, a frame, a log line or an error. Only expand.ts fills in placeholders, at the start. Pure.
import type { RuleLists } from '../rules/rule.ts'

/** A valid name of a container image on a command line. */
export const IMAGE_NAME = /^[a-z0-9][\w.\-/:@]*$/i

/** What a jailed server may see and reach. Paths and domains may contain placeholders. */
export interface ServerSandbox {
  filesystem?: {
    /** Files and folders that it may read although they are in the home folder or hidden. */
    allowRead?: string[]
    allowWrite?: string[]
    denyRead?: string[]
    /** Parts of `allowWrite` that stay read-only. */
    denyWrite?: string[]
  }
  /** True means the machine's own network. Missing and false mean none. */
  network?: boolean | { allowedDomains: string[]; deniedDomains?: string[] }
  /** Runs it in a container of this image, with the image's programs. */
  image?: string
}

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

/** What an entry says of the sign-in of a user in a browser. */
export interface SignInClient {
  /** Missing means that the bridge registers itself. */
  clientId?: string
  clientSecret?: string
  /** Scopes to request, separated by spaces. Missing means those that the server suggests. */
  scope?: string
  /** The redirect address, on this machine. Missing means any port of 127.0.0.1. */
  redirectUri?: string
  /** The authorization server that the client is registered with. Missing: its secret goes to the server alone. */
  issuer?: string
  /** Where the metadata of the authorization server are. */
  authServerMetadataUrl?: string
  /** What the tokens are for, if it is not what the server's metadata say. */
  resource?: string
  /** Its endpoints, where it publishes no metadata. */
  authorizationUrl?: string
  tokenUrl?: string
}

/** A client of an authorization server, for the OAuth client credentials grant. */
export interface ClientCredentials {
  clientId: string
  clientSecret: string
  scope?: string
  /** The authorization server it is registered with. Missing means one at the server's own origin. */
  issuer?: string
}

/** A value that only the user knows, `${input:ID}` in a text of the transport, and how to ask for it. */
export interface ServerInput {
  id: string
  /** Only VS Code knows the result of a `command`. */
  type: 'promptString' | 'pickString' | 'command'
  description?: string
  /** Do not echo what is typed. */
  password?: boolean
  /** For a pickString. */
  options?: string[]
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
