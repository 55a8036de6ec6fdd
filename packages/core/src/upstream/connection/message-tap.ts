// Between transport and client package: everything that must see messages, in one order (handshake.ts).
import type { JSONRPCMessage, MessageExtraInfo, Transport, TransportSendOptions } from '@modelcontextprotocol/client'

/** What an observer can do with a message. */
interface TapWays {
  /** Sends a message on: to the following observers, then to the transport. */
  send: (message: JSONRPCMessage, options?: TransportSendOptions) => Promise<void>
  /** Injects a message as if it had been received. */
  receive: (message: JSONRPCMessage) => void
}

export interface MessageObserver {
  readonly name: string
  /** Handles a message that the package sends, and passes it on with `ways.send`. */
  send?(message: JSONRPCMessage, options: TransportSendOptions | undefined, ways: TapWays): Promise<void>
  /** Sees a received message and may change it. @returns true to hide it from the other observers and the package */
  receive?(message: JSONRPCMessage): boolean | void
  /** The bridge is about to close the connection. */
  closing?(): void
  /** The connection has closed, and the package has been told. */
  closed?(): void
}

/** The transport that the client package gets. Both received and sent messages pass the observers first to last. */
export class MessageTap implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void
  readonly #transport: Transport
  readonly #observers: readonly MessageObserver[]

  constructor(transport: Transport, observers: readonly MessageObserver[]) {
    this.#transport = transport
    this.#observers = observers
    transport.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) => {
      if (!observers.some((observer) => observer.receive?.(message) === true)) this.onmessage?.(message, extra)
    }
    transport.onerror = (error) => this.onerror?.(error)
    transport.onclose = () => {
      this.onclose?.()
      for (const observer of observers) observer.closed?.()
    }
  }

  get sessionId(): string | undefined {
    return this.#transport.sessionId
  }

  get hasPerRequestStream(): boolean {
    return this.#transport.hasPerRequestStream === true
  }

  setProtocolVersion(version: string): void {
    this.#transport.setProtocolVersion?.(version)
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.#transport.setSupportedProtocolVersions?.(versions)
  }

  start(): Promise<void> {
    return this.#transport.start()
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    return this.#sendFrom(0, message, options)
  }

  close(): Promise<void> {
    for (const observer of this.#observers) observer.closing?.()
    return this.#transport.close()
  }

  #sendFrom(index: number, message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const observer = this.#observers[index]
    if (!observer) return this.#transport.send(message, options)
    if (!observer.send) return this.#sendFrom(index + 1, message, options)
    return observer.send(message, options, {
      send: (...onwards) => this.#sendFrom(index + 1, ...onwards),
      receive: (answer) => this.#transport.onmessage?.(answer),
    })
  }
}
