// Ensures that every request over Streamable HTTP ends. The client package waits forever when the stream that should
// carry the response ends without it, and leaves the stream of a cancelled request open.
import type { MessageObserver } from '@sandbridge/core/upstream/connection/message-tap.ts'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import { MESSAGE_TOO_LONG } from '@sandbridge/core/upstream/stdio/stdio-transport.ts'
import { BodyRefusedError } from './bounded-body.ts'
import { ANSWER_LOST } from '@sandbridge/core/upstream/failures/circumstances.ts'
import { remoteReason } from './remote-failure.ts'

/** @param takeTrouble returns the latest network failure once */
export function settleLostRequests(takeTrouble: () => unknown): MessageObserver {
  const open = new Map<number, AbortController>()
  return {
    name: 'lost requests',
    send: async (message, options, ways) => {
      if (!('method' in message)) return ways.send(message, options)
      if (!('id' in message)) {
        await ways.send(message, options)
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

/**
 * Gives an error without a request id the id of the request that it responds to. Servers send such errors for requests
 * that they cannot read (JSON-RPC 2.0, section 5), and the client package refuses them.
 */
export function withRequestIds(response: Response, request: RequestInit | undefined): Response {
  const read = response.json.bind(response)
  const json = async (): Promise<unknown> => {
    const reply: unknown = await read()
    if (!isRecord(reply) || reply['id'] !== null || !isRecord(reply['error'])) return reply
    const sent: unknown = typeof request?.body === 'string' ? JSON.parse(request.body) : undefined
    return isRecord(sent) && sent['id'] !== undefined ? { ...reply, id: sent['id'] } : reply
  }
  return Object.assign(response, { json })
}

function lossOf(trouble: unknown): { code: number; message: string } {
  if (trouble instanceof BodyRefusedError) return { code: MESSAGE_TOO_LONG, message: trouble.message }
  const reason = remoteReason(trouble)
  const text = 'the connection broke before the answer came'
  return { code: ANSWER_LOST, message: reason === undefined ? text : `${text}: ${reason}` }
}
