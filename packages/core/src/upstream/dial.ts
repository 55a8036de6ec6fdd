// A way to a server before the handshake (`Link`), and how the process of a local server becomes one.
import type { Transport } from '@modelcontextprotocol/client'
import type { RemoteErrors } from './failures/circumstances.ts'
import type { MessageObserver } from './connection/message-tap.ts'
import type { ProcessExit, ServerProcess } from './stdio/server-process.ts'
import { StdioTransport, type OutputMark } from './stdio/stdio-transport.ts'

/** `http` is Streamable HTTP, `sse` the older HTTP+SSE. */
export type Via = 'stdio' | 'http' | 'sse'

export interface Link {
  via: Via
  transport: Transport
  /** What errors of its requests mean. Missing for a process. */
  errors?: RemoteErrors
  /** Writes a message without the promise that `transport.send` creates; missing when there is no pipe. */
  write?: StdioTransport['write']
  /** See the messages before all other observers. */
  observers?: readonly MessageObserver[]
  /** How the process exited, once it has. */
  exit?: () => ProcessExit | undefined
  /** What the process did that made the bridge end it. */
  endedFor?: () => string | undefined
  /** A position in the server's output outside the protocol. */
  said?: () => OutputMark
  /** The server's last output outside the protocol, since that position. Not redacted. */
  stderrTail?: (since?: OutputMark) => string
  /** Ends the session at the server before the transport is closed. Never rejects. */
  terminateSession?: () => Promise<void>
  /** Frees what the transport does not free, after it was closed. Never rejects. */
  release?: () => void | Promise<void>
}

/** @param open starts the process, or throws the error of its start. @param release frees what is left of it */
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
