// What a connection to an upstream is made of, whichever kind it is of, and the kind that is a process. The handshake opens it.
import type { Transport } from '@modelcontextprotocol/client'
import type { MessageObserver } from './connection/message-tap.ts'
import type { ProcessExit, ServerProcess } from './stdio/server-process.ts'
import { StdioTransport, type OutputMark } from './stdio/stdio-transport.ts'

/** `http` is Streamable HTTP, `sse` the older HTTP+SSE. */
export type Via = 'stdio' | 'http' | 'sse'

export interface Link {
  via: Via
  transport: Transport
  /** Writes a message without the promise that `transport.send` makes; missing where there is no pipe to write to. */
  write?: StdioTransport['write']
  /** Sees its messages before all others. */
  observer?: MessageObserver
  /** How the process ended, once it has. */
  exit?: () => ProcessExit | undefined
  /** What the process sent that made us end it. */
  endedFor?: () => string | undefined
  /** A point in what the other side writes beside the protocol. */
  said?: () => OutputMark
  /** What it wrote last beside the protocol, since then. Not redacted. */
  stderrTail?: (since?: OutputMark) => string
  /** Sends what is polite to send before the transport is closed. Never rejects. */
  terminateSession?: () => Promise<void>
  /** Frees what the transport does not free itself, after it was closed. Never rejects. */
  release?: () => void | Promise<void>
}

/** @param open starts the process, or throws what its start would. @param release frees what is left of it */
export function dialProcess(open: () => ServerProcess, release?: () => Promise<void>): Link {
  const transport = new StdioTransport(open)
  return {
    ...(release && { release }),
    via: 'stdio',
    transport,
    write: (message, onError) => transport.write(message, onError),
    exit: () => transport.exit,
    endedFor: () => transport.endedFor,
    said: () => transport.said,
    stderrTail: (since) => transport.stderrTail(since),
  }
}
