// Writes to the pipe of a child process. Of all that a bridge does for a call, the system calls cost most.
import type { Writable } from 'node:stream'

/** Write; what is written to a stream in one turn of the event loop becomes one system call. */
export function writeBatched(stream: Writable, data: string | Buffer, done?: (error?: Error | null) => void): void {
  if (stream.writableCorked === 0) {
    stream.cork()
    process.nextTick(() => stream.uncork())
  }
  stream.write(data, done)
}
