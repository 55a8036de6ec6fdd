// Every frame that crosses the pipe between bridge and kernel, as docs/protocol.md describes it; that page is the authority.
// Types only: check-frame.ts checks what comes from the kernel, which is hostile, and codec.ts knows the bytes.
import type * as z from 'zod'
import type { kernelFrame } from './frame-schemas.ts'

export const PROTOCOL_VERSION = 1

/** The longest frame, its LF included. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024

// ---------------------------------------------------------------- bridge to kernel

/** An upstream as a cell sees it: `mcp_<alias>`. */
export interface VisibleServer {
  name: string
  alias: string
  description?: string
  /** The cell only learns that there is such a server: another one could reach it by naming it. */
  loaded?: false
}

/** What a cell is written in, where that is not Python. */
export type OtherLanguage = 'bash' | 'javascript'

export interface RunFrame {
  type: 'run'
  cell: number
  code: string
  /** What the cell may reach; left out when it is as in the run before. */
  servers?: VisibleServer[]
  /** Does the call of the cell name its servers? */
  named?: true
  /** Why variables of earlier cells are gone, in a sentence. */
  lost?: string
  /** Ask for values as `application/json`, too, where they have that form. */
  json?: true
  /** Give cells the forms of the system this one re-creates. */
  compat?: true
  /** Missing for Python. */
  language?: OtherLanguage
  /** Keep the files of `/projects`: what they are now, a text that is another one when they have changed. */
  projects?: string
  /** Ask for the variables when the cell is over: the method `save_checkpoint`. */
  checkpoint?: true
  /** Variables that came with `save_checkpoint` from an earlier kernel: base64 of a pickle. */
  restore?: string
}

export interface ReplyError {
  code: string
  message: string
  hint?: string
  data?: unknown
}

export type ReplyFrame =
  | { type: 'reply'; id: number; value: unknown }
  | { type: 'reply'; id: number; error: ReplyError }

export type BridgeFrame = RunFrame | ReplyFrame

// ---------------------------------------------------------------- kernel to bridge

export type KernelFrame = z.infer<typeof kernelFrame>
export type ReadyFrame = Extract<KernelFrame, { type: 'ready' }>
export type CallFrame = Extract<KernelFrame, { type: 'call' }>
export type ProgressFrame = Extract<KernelFrame, { type: 'progress' }>
export type DoneFrame = Extract<KernelFrame, { type: 'done' }>
/** MIME type to content: text and JSON as they are, binary types as base64. */
export type MimeBundle = Record<string, unknown>
