// Sends tool calls to a stdio server of the legacy era without the client package, whose work per request takes as long
// as the rest of a call here; a cell may make thousands. All other messages go through the package.
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import type { Abortable } from '../../../util/async/cancellation.ts'
import type { StdioTransport } from '../../stdio/stdio-transport.ts'
import type { MessageObserver } from '../message-tap.ts'
import { isRecord } from '../../../util/json/json.ts'
import { takeSource } from '../../../util/json/source-json.ts'
import type { LooseResult, Sdk } from '../sdk.ts'

/** The package numbers its own requests from 0. */
const FIRST_ID = 1_000_000_000

export class DirectCalls implements MessageObserver {
  readonly name = 'direct calls'
  readonly #sdk: Sdk
  readonly #write: StdioTransport['write']
  readonly #open = new Map<number, { succeed: (result: unknown) => void; fail: (error: unknown) => void }>()
  #lastId = FIRST_ID

  /** @param write writes to the pipe without passing the other observers */
  constructor(sdk: Sdk, write: StdioTransport['write']) {
    this.#sdk = sdk
    this.#write = write
  }

  /** Sends `tools/call`. @throws what the package's own requests throw */
  call(params: Record<string, unknown>, signal?: Abortable): Promise<LooseResult> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const id = ++this.#lastId
      const forget = (): void => {
        this.#open.delete(id)
        signal?.removeEventListener('abort', onAbort)
      }
      const fail = (error: unknown): void => {
        forget()
        reject(error)
      }
      const onAbort = (): void => {
        const reason = String(signal!.reason)
        const cancelled = { method: 'notifications/cancelled', params: { requestId: id, reason } }
        this.#write({ jsonrpc: '2.0', ...cancelled }, () => {})
        fail(signal!.reason)
      }
      const succeed = (result: unknown): void => {
        forget()
        if (isRecord(result)) resolve(takeSource(result))
        else reject(new this.#sdk.SdkError(this.#sdk.SdkErrorCode.InvalidResult, 'the result is not an object'))
      }
      this.#open.set(id, { succeed, fail })
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#write({ jsonrpc: '2.0', id, method: 'tools/call', params }, fail)
    })
  }

  receive(message: JSONRPCMessage): boolean {
    if (!('id' in message) || 'method' in message) return false
    const id = Number(message.id)
    const call = this.#open.get(id)
    // A late response to a cancelled call is not for the package either.
    if (!call) return id > FIRST_ID
    if ('result' in message) {
      call.succeed(message.result)
      return true
    }
    const { code, message: text, data } = (isRecord(message.error) ? message.error : {}) as Record<string, unknown>
    const number = typeof code === 'number' ? code : this.#sdk.ProtocolErrorCode.InternalError
    call.fail(this.#sdk.ProtocolError.fromError(number, typeof text === 'string' ? text : 'no reason given', data))
    return true
  }

  closed(): void {
    const error = new this.#sdk.SdkError(this.#sdk.SdkErrorCode.ConnectionClosed, 'Connection closed')
    for (const call of this.#open.values()) call.fail(error)
  }
}
