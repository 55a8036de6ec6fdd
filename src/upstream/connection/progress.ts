// Progress of calls, read from the transport as it arrives. The client package forgets a call's progress handler before it has handed on the progress
// that came in the same chunk as the answer, so that the last steps, or all of them, would be lost.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { onOneLine } from '../../text/server-words.ts'
import type { CallOptions } from '../upstream.ts'

const MAX_MESSAGE_CHARS = 1000

type ProgressHandler = NonNullable<CallOptions['onProgress']>

export interface ProgressRoutes {
  /** Gives a token to send along with a request, and the means to forget it. */
  add(handler: ProgressHandler): { token: number; remove: () => void }
}

/** Wraps a transport before it is given to a client. */
export function routeProgress(transport: Transport): ProgressRoutes {
  const handlers = new Map<number, ProgressHandler>()
  let lastToken = 0
  // The package keeps a handler that was there before its own, and calls it first.
  const before = transport.onmessage
  transport.onmessage = (message, extra) => {
    before?.(message, extra)
    deliver(message, handlers)
  }
  return {
    add(handler) {
      lastToken += 1
      const token = lastToken
      handlers.set(token, handler)
      return { token, remove: () => handlers.delete(token) }
    },
  }
}

function deliver(message: JSONRPCMessage, handlers: Map<number, ProgressHandler>): void {
  if (!('method' in message) || message.method !== 'notifications/progress') return
  const { progressToken, progress, total, message: text } = message.params ?? {}
  const handler = handlers.get(Number(progressToken))
  if (!handler || typeof progress !== 'number') return
  handler({
    progress,
    ...(typeof total === 'number' && { total }),
    ...(typeof text === 'string' && { message: onOneLine(text.slice(0, MAX_MESSAGE_CHARS)) }),
  })
}
