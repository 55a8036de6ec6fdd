// Cuts a server's instructions to a length that may be kept for as long as the server runs. The client package keeps what it is handed, so they
// are cut before it sees them. Nothing else of a server's greeting is touched.
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { isRecord } from '../../text/json.ts'
import type { MessageObserver } from './message-tap.ts'

/** Several times what servers write. */
const MAX_INSTRUCTIONS_CHARS = 8192

export interface BoundedInstructions extends MessageObserver {
  /** How long they were, when they were too long. */
  cutFrom(): number | undefined
  /** To be called when the greeting is over: a tool's result may have such a field, too. */
  stop(): void
}

export function boundInstructions(): BoundedInstructions {
  let cutFrom: number | undefined
  let isOver = false
  return {
    name: 'bounded instructions',
    receive: (message) => {
      if (!isOver) cutFrom ??= cut(message)
    },
    cutFrom: () => cutFrom,
    stop: () => (isOver = true),
  }
}

/** @returns the length before, when something was cut */
function cut(message: JSONRPCMessage): number | undefined {
  const result: unknown = 'result' in message ? message.result : undefined
  if (!isRecord(result) || typeof result.instructions !== 'string') return undefined
  const { instructions } = result
  if (instructions.length <= MAX_INSTRUCTIONS_CHARS) return undefined
  result.instructions = copyOf(instructions.slice(0, MAX_INSTRUCTIONS_CHARS))
  return instructions.length
}

/** A part of a text keeps the whole of it in memory until it is copied. */
function copyOf(text: string): string {
  return Buffer.from(text).toString()
}
