// Ensures that every request over Streamable HTTP ends. The client package waits forever when the stream that should
// carry the response ends without it, and leaves the stream of a cancelled request open.
import type { MessageObserver } from '@sandbridge/core/upstream/connection'
import { withTimeout } from '@sandbridge/core/util/async'
import { markBigInts } from '@sandbridge/core/util/json'
import type { OpenRequests } from '@sandbridge/core/upstream/reading'
import { MESSAGE_TOO_LONG } from '@sandbridge/core/upstream'
import { BodyRefusedError } from './bounded-body.ts'
import { ANSWER_LOST } from '@sandbridge/core/upstream/failures'
import { remoteReason } from './remote-failure.ts'

/** How long a server may take to accept a notification: nothing waits for its effect. */
const NOTIFIED_MS = 2_000

/** Tells `requests` what is open. Marks integers that the client package's JSON has no form for. */
export function trackRequests(requests: OpenRequests): MessageObserver {
  return {
    name: 'open requests',
    send: async (message, options, ways) => {
      requests.sent(message)
      if (!('method' in message) || !('id' in message)) return ways.send(message, options)
      const marked = markBigInts(message)
      const over = (): void => requests.over(message.id)
      options?.requestSignal?.addEventListener('abort', over, { once: true })
      await ways.send(marked, options).catch((error: unknown) => {
        over()
        throw error
      })
    },
    receive: (message) => requests.received(message),
  }
}

/** @param takeTrouble returns the latest network failure once */
export function settleLostRequests(takeTrouble: () => unknown): MessageObserver {
  const open = new Map<number, AbortController>()
  return {
    name: 'lost requests',
    send: async (message, options, ways) => {
      if (!('method' in message)) return ways.send(message, options)
      if (!('id' in message)) {
        await withTimeout(ways.send(message, options), NOTIFIED_MS, () => {})
        if (message.method === 'notifications/cancelled') open.get(Number(message.params?.requestId))?.abort()
        return
      }
      // Requests with other ids are the package's own subscriptions, which it manages itself.
      if (typeof message.id !== 'number') return ways.send(message, options)
      const id = message.id
      const abort = new AbortController()
      open.set(id, abort)
      try {
        await ways.send(message, {
          ...options,
          requestSignal: options?.requestSignal ? AbortSignal.any([options.requestSignal, abort.signal]) : abort.signal,
          onRequestStreamEnd: () => {
            if (open.delete(id)) ways.receive({ jsonrpc: '2.0', id, error: lossOf(takeTrouble()) })
          },
        })
      } catch (error) {
        open.delete(id)
        throw error
      }
    },
    receive: (message) => {
      if (!('method' in message)) open.delete(Number(message.id))
    },
  }
}

function lossOf(trouble: unknown): { code: number; message: string } {
  if (trouble instanceof BodyRefusedError) return { code: MESSAGE_TOO_LONG, message: trouble.message }
  const reason = remoteReason(trouble)
  const text = 'the connection broke before the answer came'
  return { code: ANSWER_LOST, message: reason === undefined ? text : `${text}: ${reason}` }
}
