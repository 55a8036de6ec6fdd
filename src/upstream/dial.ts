// What a connection to an upstream is made of, whichever kind it is of, and the kind that is a process. It opens nothing: the handshake does.
import type { Transport } from '@modelcontextprotocol/client'
import type { StdioServer } from '../config/server-definition.ts'
import type { MessageObserver } from './connection/message-tap.ts'
import type { Jail } from './stdio/jail/open-jail.ts'
import { StdioTransport, type ProcessExit, type OutputMark } from './stdio/stdio-transport.ts'

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

/** @param cwd where a server without a `cwd` of its own is started. @param jail in which it is */
export function dialProcess(server: StdioServer, cwd: string | undefined, jail?: Jail): Link {
  const transport = new StdioTransport(server, cwd, jail?.launch)
  return {
    ...(jail && { release: jail.release }),
    via: 'stdio',
    transport,
    write: (message, onError) => transport.write(message, onError),
    exit: () => transport.exit,
    endedFor: () => transport.endedFor,
    said: () => transport.said,
    stderrTail: (since) => transport.stderrTail(since),
  }
}
