// Every frame that crosses the pipe between bridge and kernel, as docs/protocol.md describes it; that page is the authority.
// Types first: frames the bridge sends, then schemas for frames it receives, since those come from hostile code. No bytes here: see codec.ts.
import * as z from 'zod'
import { boundedList, boundedRecord } from './bounded-schema.ts'

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

interface RunFrame {
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

const cell = z.int().nonnegative()
/** No value has more forms than this. Each key is a check of its own: half a million of them take as long to check as to parse. */
const MAX_BUNDLE_KEYS = 100
const mimeBundle = boundedRecord(z.unknown(), MAX_BUNDLE_KEYS, 'MIME types')

const readyFrame = z.object({
  type: z.literal('ready'),
  protocol: z.int(),
  python: z.string().max(100),
  platform: z.string().max(100),
})

const outputFrame = z.object({
  type: z.literal('output'),
  cell,
  stream: z.enum(['stdout', 'stderr']),
  text: z.string(),
})

const displayFrame = z.object({ type: z.literal('display'), cell, data: mimeBundle })

const callFrame = z.object({
  type: z.literal('call'),
  id: z.int().positive(),
  cell,
  method: z.string().max(100),
  // Each method parses its own params; see proxy/.
  params: z.unknown(),
})

const cancelFrame = z.object({ type: z.literal('cancel'), id: z.int().positive() })

const progressFrame = z.object({
  type: z.literal('progress'),
  cell,
  done: z.number(),
  total: z.number().optional(),
  message: z.string().optional(),
})

const doneFrame = z.object({
  type: z.literal('done'),
  cell,
  status: z.enum(['ok', 'error', 'interrupted']),
  value: mimeBundle.optional(),
  error: z
    .object({
      name: z.string(),
      message: z.string(),
      traceback: z.string(),
      values: z.string().optional(),
      hint: z.string().optional(),
      search: z.string().optional(),
    })
    .optional(),
  notes: boundedList(z.string(), 100).optional(),
})

export const kernelFrame = z.discriminatedUnion('type', [
  readyFrame,
  outputFrame,
  displayFrame,
  callFrame,
  cancelFrame,
  progressFrame,
  doneFrame,
])

export type KernelFrame = z.infer<typeof kernelFrame>
export type ReadyFrame = z.infer<typeof readyFrame>
export type CallFrame = z.infer<typeof callFrame>
export type ProgressFrame = z.infer<typeof progressFrame>
export type DoneFrame = z.infer<typeof doneFrame>
/** MIME type to content: text and JSON as they are, binary types as base64. */
export type MimeBundle = Record<string, unknown>
