// The interface of the MCP client side. Only src/upstream imports the MCP client package.
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
  /** For clients that list the tool directly. */
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
