// The interface of the MCP client side. Only src/upstream imports the MCP client package.
import type { ServerDefinition } from '../config/entries/server-definition.ts'
import type { Abortable } from '../util/async/cancellation.ts'
import type { BridgeError } from '../errors.ts'

/** A tool as its server lists it. Only `name` is certain: an invalid schema must not affect other tools. */
export interface UpstreamTool {
  name: string
  title?: string
  description?: string
  inputSchema?: unknown
  outputSchema?: unknown
  /** It contained invisible text, which was removed. */
  hidesWords?: boolean
  /** Only an app of the server may call it, which the server's client shows to its user; no model may. */
  isOfApps?: boolean
  /** The resource `ui://…` with the app that shows its results (MCP Apps). */
  appUri?: string
  /** For a client that lists it by itself. */
  icons?: unknown[]
  annotations?: {
    title?: string
    readOnlyHint?: boolean
    destructiveHint?: boolean
    idempotentHint?: boolean
    openWorldHint?: boolean
  }
}

export interface SkippedTool {
  /** Empty for one without a name. */
  name: string
  reason: string
}

export interface ToolResult {
  content?: unknown[]
  structuredContent?: unknown
  /** Of a reply to a cell: texts that say something else than `structuredContent`. */
  texts?: string[]
  isError?: boolean
  _meta?: unknown
}

/** A resource, or a template, which has `uriTemplate` (RFC 6570) and no `uri`. Other fields are unchecked. */
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

/** A prompt as listed by its server. Only `name` is certain. */
export interface UpstreamPrompt {
  name: string
  title?: unknown
  description?: unknown
  arguments?: unknown
}

export interface ReadResource {
  contents: unknown[]
}

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

/** Told when a list is too long, and its last entries are missing. @param what its entries in words */
export type OnCut = (what: string) => void

/** Further fields of `params._meta`. */
export type Meta = Readonly<Record<string, unknown>>

/** How to sign a user in to a server in a browser. */
export interface SignInOptions {
  /** Shows the sign-in page. @throws when the user declines */
  showPage: (url: URL) => Promise<void>
  signal: AbortSignal
}

export type UpstreamState = 'not-started' | 'starting' | 'installing' | 'running' | 'failed'

/** The last successful start of a server. */
export interface ServerStart {
  /** When it first responded, in milliseconds since 1970. */
  at: number
  tookMs: number
}

/** Whether a running server has said, since its start, that its tools changed, and whether they were read since. */
export type ToolChanges = 'none' | 'read' | 'unread'

export interface UpstreamListener {
  onTools?: (server: string, tools: UpstreamTool[]) => void
  /** A running server says that its resources or prompts have changed. */
  onOfferings?: (server: string) => void
  /** A server failed to start or exited by itself. The error holds no secret. */
  onError?: (server: string, error: BridgeError) => void
}

/** All configured upstreams. Each starts on first use, is shared by all sessions, and restarts after an exit. */
export interface Upstreams {
  readonly definitions: readonly ServerDefinition[]
  /** Applies a new list. Unchanged servers keep running; the others are stopped when their open calls have ended. */
  redefine(definitions: readonly ServerDefinition[]): void
  state(server: string): UpstreamState
  /** Missing for a server that this bridge has not started. */
  lastStart(server: string): ServerStart | undefined
  /** Why a server left a call unanswered that was just given up, in a sentence; undefined when it answers a ping. */
  whyUnanswered(server: string): Promise<string | undefined>
  /** Removes a server's secrets from a text: those of its definition, with placeholders as filled in last. */
  redact(server: string, text: string): string
  /** The server's own instructions, once it has been started. */
  instructions(server: string): string | undefined
  /** Starts a server that does not run. @throws BridgeError UPSTREAM_* */
  start(server: string, signal?: AbortSignal): Promise<void>
  /** Entries of the server's last list that no cell can call. */
  skippedTools(server: string): readonly SkippedTool[]
  /**
   * Lists a server's tools, starting it if necessary; answered from memory until the server announces a change.
   * @param again asks the server in any case: some announce no change
   * @throws BridgeError UPSTREAM_*
   */
  listTools(server: string, signal?: AbortSignal, again?: boolean): Promise<UpstreamTool[]>
  /** What a running server has said of changes of its tools. */
  toolChanges(server: string): ToolChanges
  /** @throws BridgeError UPSTREAM_* or CANCELLED. A result with `isError` is returned. */
  callTool(server: string, tool: string, args: Record<string, unknown>, options?: CallOptions): Promise<ToolResult>
  /**
   * Resources and templates of a server, requested each time; empty without that capability.
   * @param onCut called when the server lists too many
   * @throws BridgeError UPSTREAM_* or TOOL_FAILED
   */
  listResources(server: string, signal?: AbortSignal, onCut?: OnCut): Promise<UpstreamResource[]>
  /** @throws BridgeError UPSTREAM_*, TOOL_FAILED with the server's reason, PROXY_TOOL_UNKNOWN without resources */
  readResource(server: string, uri: string, signal?: AbortSignal, meta?: Meta): Promise<ReadResource>
  listPrompts(server: string, signal?: AbortSignal, onCut?: OnCut): Promise<UpstreamPrompt[]>
  getPrompt(
    server: string,
    prompt: { name: string; arguments: Record<string, string> },
    signal?: AbortSignal,
    meta?: Meta,
  ): Promise<GottenPrompt>
  /**
   * Values that the server offers for a text that is being written; none from a server without completions.
   * @param asked the params of `completion/complete`
   * @throws BridgeError UPSTREAM_* or TOOL_FAILED
   */
  complete(server: string, asked: Record<string, unknown>, signal?: AbortSignal, meta?: Meta): Promise<string[]>
  /** Whether `signIn` helps when the server requires authentication; false if its entry has the credentials. */
  canSignIn(server: string): boolean
  /** @throws BridgeError as `login` does, or what `showPage` throws */
  signIn(server: string, options: SignInOptions): Promise<void>
  /** Resolves when the server says that the user has finished on a page, after a timeout, or on abort. */
  pageFinished(server: string, id: string, signal: AbortSignal): Promise<void>
  /** Tells the listener what happens to any server from now on. */
  listen(listener: UpstreamListener): void
  /** Stops a server until its next use; open calls fail. @throws BridgeError PROXY_SERVER_UNAVAILABLE */
  stop(server: string): Promise<void>
  /** Stops every upstream with its whole process group. */
  close(): Promise<void>
}
