// Truncates a server's instructions before the client package, which keeps the message, sees them.
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { isRecord } from '../../util/json/json.ts'
import type { MessageObserver } from './message-tap.ts'

/** Several times the length that servers write. */
const MAX_INSTRUCTIONS_CHARS = 8192

export interface BoundedInstructions extends MessageObserver {
  cutFrom(): number | undefined
  /** Call when the handshake is over: a tool's result may have a field of this name, too. */
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

/** @returns the original length, when something was cut */
function cut(message: JSONRPCMessage): number | undefined {
  const result: unknown = 'result' in message ? message.result : undefined
  if (!isRecord(result) || typeof result.instructions !== 'string') return undefined
  const { instructions } = result
  if (instructions.length <= MAX_INSTRUCTIONS_CHARS) return undefined
  result.instructions = copyOf(instructions.slice(0, MAX_INSTRUCTIONS_CHARS))
  return instructions.length
}

/** A substring keeps the whole text in memory until it is copied. */
function copyOf(text: string): string {
  return Buffer.from(text).toString()
}
