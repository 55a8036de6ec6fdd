// Takes a server's log messages directly from the transport. The client package checks each with a schema and makes
// promises for it: a server that sends a million of them would fill hundreds of megabytes with garbage.
import { isRecord } from '../../util/json/json.ts'
import type { MessageObserver } from './message-tap.ts'

export interface ServerMessage {
  level: string
  logger?: string
  data: unknown
}

/** The specification names eight levels, all of them such words in small letters. */
const LEVEL = /^[a-z]{1,16}$/i

/** A message without a level is information; one without data has nothing to say. */
export function takeLogMessages(onMessage: (message: ServerMessage) => void): MessageObserver {
  return {
    name: 'log messages',
    receive: (message) => {
      if (!('method' in message) || message.method !== 'notifications/message' || 'id' in message) return false
      const { level, logger, data } = isRecord(message.params) ? message.params : {}
      const word = typeof level === 'string' && LEVEL.test(level) ? level.toLowerCase() : 'info'
      if (data !== undefined) onMessage({ level: word, data, ...(typeof logger === 'string' && { logger }) })
      return true
    },
  }
}
