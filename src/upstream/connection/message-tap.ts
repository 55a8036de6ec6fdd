// The one place between a transport and the client package: what has to see a connection's messages is an observer here, and their order is the
// order of one list (in handshake.ts).
import type { JSONRPCMessage, MessageExtraInfo, Transport, TransportSendOptions } from '@modelcontextprotocol/client'

/** What an observer can do with a message besides looking at it. */
interface TapWays {
  /** Sends a message on: to the observers after this one, and then to the transport. */
  send: (message: JSONRPCMessage, options?: TransportSendOptions) => Promise<void>
  /** Hands in a message as if it had come from the other side. */
  receive: (message: JSONRPCMessage) => void
}

export interface MessageObserver {
  readonly name: string
  /** Sends a message that the package wants to send, by `ways.send`. */
  send?(message: JSONRPCMessage, options: TransportSendOptions | undefined, ways: TapWays): Promise<void>
  /** Sees a message that came in, and may change it. @returns true when no other observer should see it */
  receive?(message: JSONRPCMessage): boolean | void
  /** We are about to close the connection. */
  closing?(): void
  /** The connection has closed, and the package knows. */
  closed?(): void
}

/** A transport as the client package is given it. Messages that come in pass the observers first to last, and so do those that go out. */
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
