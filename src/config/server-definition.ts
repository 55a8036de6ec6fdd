// What we know about an upstream before it is started: how to start it, and where that was written.
// The values of its variables and headers, secret arguments and credentials in its URL never enter a sandbox, a frame, a log line or an error message.
// Texts in `transport` may hold placeholders; expand.ts fills them in when the server is started, and nothing does so before. Pure.
import type { RuleLists } from '../policy/rule.ts'

/** The name of a container image, as a command line can take it. */
export const IMAGE_NAME = /^[a-z0-9][\w.\-/:@]*$/i

/** What a jailed server may see and reach. Paths and domains may hold placeholders. */
export interface ServerSandbox {
  filesystem?: {
    /** Folders and files of the home folder, and of places that are hidden, that it may read all the same. */
    allowRead?: string[]
    allowWrite?: string[]
    denyRead?: string[]
    /** Parts of `allowWrite` that it may only read. */
    denyWrite?: string[]
  }
  /** True is the machine's own network. Missing and false is none at all. */
  network?: boolean | { allowedDomains: string[]; deniedDomains?: string[] }
  /** A container image. It runs in a container of this image, and with its programs. */
  image?: string
}

/** How to reach an upstream that is a process of ours. */
export interface StdioServer {
  type: 'stdio'
  command: string
  args: string[]
  env: Record<string, string>
  cwd?: string
  /** A file of NAME=value lines that adds to `env`. */
  envFile?: string
  /** Names of variables of the bridge's own environment that the server gets when they are set. */
  inheritEnv?: string[]
  /** It runs in a jail. Missing means that it does not. */
  sandbox?: ServerSandbox
  /** With the placeholders filled in: values that are part of the texts above, and secrets by themselves. */
  secrets?: string[]
}

/** How to reach an upstream over HTTP: `http` is Streamable HTTP, `sse` the older HTTP+SSE. */
export interface RemoteServer {
  type: 'http' | 'sse'
  url: string
  headers: Record<string, string>
  /** How the bridge itself signs in. Missing means that a user does, where the server wants one to. */
  oauth?: ClientCredentials
  /** What is known of the sign-in of a user. */
  signIn?: SignInClient
  /** As for a StdioServer. */
  secrets?: string[]
}

/** A client of an authorization server that was registered by hand, for sign-ins of a user in a browser. */
export interface SignInClient {
  /** Missing means that we introduce ourselves. */
  clientId?: string
  clientSecret?: string
  /** What to ask for, separated by spaces. Missing means what the server suggests. */
  scope?: string
  /** The address it is registered with. When it is not one of this machine, or is missing, any port of 127.0.0.1 is used. */
  redirectUri?: string
  /** The authorization server it is registered with. Missing means that its secret only goes to the server's own address. */
  issuer?: string
}

/** A client of an authorization server, for the OAuth client credentials grant. */
export interface ClientCredentials {
  clientId: string
  clientSecret: string
  scope?: string
  /** The authorization server that it is registered with. Missing means that it is one at the server's own address. */
  issuer?: string
}

/** Something that only the user knows, as `${input:ID}` in a text of the transport, and how to ask for it. */
export interface ServerInput {
  id: string
  /** The result of a `command` is known to VS Code only. */
  type: 'promptString' | 'pickString' | 'command'
  description?: string
  /** What is typed is not to be shown. */
  password?: boolean
  /** Of a pickString. */
  options?: string[]
}

/** One configured MCP server. */
export interface ServerDefinition {
  /** As configured; unique among the definitions of one bridge. */
  name: string
  transport: StdioServer | RemoteServer
  description?: string
  /** Where it was read. */
  source: { client: string; file: string }
  /** A project brings it along. Missing means that the user has configured it. */
  isProjects?: true
  /** False for a server that a project brings along and its owner has not trusted; it is among `untrusted` and nowhere else. */
  trusted?: boolean
  /** Which of the server's tools may be seen and called; `exclude` wins. Missing means all. */
  tools?: { include?: string[]; exclude?: string[] }
  /** Rules about calls of its tools. */
  permissions?: RuleLists
  /** Those that its file describes, of the inputs it needs. */
  inputs?: ServerInput[]
  /** The user wants it out of any jail that it is not told to be in. */
  unjailed?: true
  /** How long the server may take to start, when its configuration says so. */
  startTimeoutMs?: number
  /** How long one call may take, when its configuration says so. */
  callTimeoutMs?: number
}

/** Something in a config file that was left out, and why, in words for its owner. */
export interface SkippedEntry {
  file: string
  name?: string
  reason: string
}

/** A config file that was read. */
export interface ConfigFileRead {
  client: string
  file: string
  /** How many servers it defines, those that turned out to be somebody else's already included. */
  serverCount: number
  /** False for a project's file that its owner has not trusted. */
  trusted: boolean
  /** Of the text that was read. */
  hash: string
}

/** A server as it stands in a file, and what became of it. */
export interface FoundServer {
  /** Under the name that it has in its file. */
  definition: ServerDefinition
  /** What it is called in this bridge. */
  name: string
  /** It is the same as one that was found before, which stands for both. */
  isDouble: boolean
}

export interface DiscoveredServers {
  /** Those that may be started. */
  servers: ServerDefinition[]
  /** Those that a project brings along and its owner has not trusted: to be listed, and never started. */
  untrusted: ServerDefinition[]
  /** All of them, those that are the same as another included, in order of precedence. */
  found: FoundServer[]
  skipped: SkippedEntry[]
  /** In order of precedence. */
  files: ConfigFileRead[]
}
