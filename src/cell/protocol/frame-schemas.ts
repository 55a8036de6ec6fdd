// Schemas for the frames of a kernel. The frame types derive from them, and tests compare them with check-frame.ts,
// docs/protocol.md and the kernel's own types. The bridge does not load this file: every tool call is a frame, and zod
// takes longer for it than JSON.parse. Pure.
import * as z from 'zod'
import { boundedList, boundedRecord } from '../../util/json/bounded-schema.ts'
import { MAX_BUNDLE_KEYS, MAX_NOTES } from './limits.ts'

const cell = z.int().nonnegative()
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
  notes: boundedList(z.string(), MAX_NOTES).optional(),
  uninterrupted: z.boolean().optional(),
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
