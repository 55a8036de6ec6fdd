// Reads progress directly from the transport: the client package loses what arrives in one chunk with the response.
import { randomInt } from 'node:crypto'
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { onOneLine } from '../../util/text/server-words.ts'
import type { CallOptions } from '../upstream.ts'
import type { MessageObserver } from './message-tap.ts'

const MAX_MESSAGE_CHARS = 1000
/** Some servers read a token as a number of 32 bits. */
const TOKENS = 2 ** 31 - 1

type ProgressHandler = NonNullable<CallOptions['onProgress']>

export interface ProgressRoutes extends MessageObserver {
  /** Returns a token to send with a request, and a function that removes the handler. */
  add(handler: ProgressHandler): { token: number; remove: () => void }
}

export function routeProgress(): ProgressRoutes {
  const handlers = new Map<number, ProgressHandler>()
  return {
    name: 'progress',
    receive: (message) => deliver(message, handlers),
    add(handler) {
      // Counted tokens would tell a server how many calls the other sessions make.
      let token = randomInt(TOKENS)
      while (handlers.has(token)) token = randomInt(TOKENS)
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
