// What the rest of the bridge sees of the MCP client side. Only this folder imports the MCP client package.
import type { ServerDefinition } from '../config/server-definition.ts'
import type { Abortable } from '../process/cancellation.ts'
import type { BridgeError } from '../errors.ts'

/** A tool as its server lists it. Nothing but `name` is certain: servers send broken schemas, and one of them must not cost the others. */
export interface UpstreamTool {
  name: string
  title?: string
  description?: string
  inputSchema?: unknown
  outputSchema?: unknown
  /** Something in it could not be seen, and was taken out. */
  hidesWords?: boolean
  annotations?: {
    title?: string
    readOnlyHint?: boolean
    destructiveHint?: boolean
    idempotentHint?: boolean
    openWorldHint?: boolean
  }
}

/** A tool's result as its server sent it. */
export interface ToolResult {
  content?: unknown[]
  structuredContent?: unknown
  isError?: boolean
  _meta?: unknown
}

/** A resource, or a template of resources: then it has `uriTemplate` (RFC 6570) and no `uri`. Other fields are the server's, unchecked. */
export interface UpstreamResource {
  uri?: string
  uriTemplate?: string
  name?: unknown
  title?: unknown
  description?: unknown
  mimeType?: unknown
  /** It is the SKILL.md of an Agent Skill (extension io.modelcontextprotocol/skills). */
  skill?: true
}

/** A prompt as its server lists it. Nothing but `name` is certain. */
export interface UpstreamPrompt {
  name: string
  title?: unknown
  description?: unknown
  arguments?: unknown
}

/** The result of `resources/read` as its server sent it. */
export interface ReadResource {
  contents: unknown[]
}

/** The result of `prompts/get` as its server sent it. */
export interface GottenPrompt {
  description?: unknown
  messages: unknown[]
}

export interface CallOptions {
  signal?: Abortable
  onProgress?: (progress: { progress: number; total?: number; message?: string }) => void
  /** For `params._meta`. */
  meta?: Meta
}

/** More fields of `params._meta`. */
export type Meta = Readonly<Record<string, unknown>>

/** Someone who can sign in to a server in a browser. */
export interface SignInOptions {
  /** Shows the page to sign in at. @throws when the user does not want to */
  showPage: (url: URL) => Promise<void>
  /** More permissions than the stored sign-in has. */
  scope?: string
  signal: AbortSignal
}

export type UpstreamState = 'not-started' | 'starting' | 'running' | 'failed'

/** The last start of a server that succeeded. */
export interface ServerStart {
  /** When it answered, in milliseconds since 1970. */
  at: number
  /** What that took. */
  tookMs: number
}

/** All configured upstreams. Each is started on first need, shared by every session, and restarted on next use after it died. */
export interface Upstreams {
  readonly definitions: readonly ServerDefinition[]
  /** Take over another list. Servers that are as they were go on running; the others end when the calls to them have ended. */
  redefine(definitions: readonly ServerDefinition[]): void
  state(server: string): UpstreamState
  /** Missing for a server that this bridge has not started. */
  lastStart(server: string): ServerStart | undefined
  /** Takes the secrets of a server out of a text: those of its definition, with placeholders filled in once it was started. */
  redact(server: string, text: string): string
  /** The server's own instructions, once it has been started. */
  instructions(server: string): string | undefined
  /** Start the server if need be and list its tools; answered from memory until the server says that they changed. @throws BridgeError UPSTREAM_* */
  listTools(server: string, signal?: AbortSignal): Promise<UpstreamTool[]>
  /** @throws BridgeError UPSTREAM_* or CANCELLED. A result with `isError` is a result. */
  callTool(server: string, tool: string, args: Record<string, unknown>, options?: CallOptions): Promise<ToolResult>
  /** Resources and templates of a server, asked for anew each time; none when it has no such capability. @throws BridgeError UPSTREAM_* or TOOL_FAILED */
  listResources(server: string, signal?: AbortSignal): Promise<UpstreamResource[]>
  /** @throws BridgeError UPSTREAM_*, TOOL_FAILED with the server's own reason, PROXY_TOOL_UNKNOWN when it has no resources */
  readResource(server: string, uri: string, signal?: AbortSignal, meta?: Meta): Promise<ReadResource>
  /** As `listResources`. */
  listPrompts(server: string, signal?: AbortSignal): Promise<UpstreamPrompt[]>
  /** As `readResource`. */
  getPrompt(
    server: string,
    prompt: { name: string; arguments: Record<string, string> },
    signal?: AbortSignal,
    meta?: Meta,
  ): Promise<GottenPrompt>
  /** Whether `signIn` helps when the server requires authentication. False when its entry configures the credentials. */
  canSignIn(server: string): boolean
  /** @throws BridgeError as `login` does, or what `showPage` throws */
  signIn(server: string, options: SignInOptions): Promise<void>
  /** Resolves when the server says that the user is done at a page it had sent them to, when that takes long, or on abort. */
  pageFinished(server: string, id: string, signal: AbortSignal): Promise<void>
  /** Called after a server's tool list was read or changed. */
  onTools(listener: (server: string, tools: UpstreamTool[], instructions: string | undefined) => void): void
  /** Called when a running server says that its resources or prompts changed. */
  onOfferings(listener: (server: string) => void): void
  /** Called when a server could not be started, or ended by itself. The error holds no secret. */
  onError(listener: (server: string, error: BridgeError) => void): void
  /** End a server until its next use. The calls that are open to it fail. @throws BridgeError PROXY_SERVER_UNAVAILABLE for an unknown name */
  stop(server: string): Promise<void>
  /** End every upstream with its whole process group. */
  close(): Promise<void>
}
