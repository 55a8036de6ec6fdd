// Sends an interrupt to a kernel: one byte between its frames, and one to its bell, if any (port_pipe.py).
import type { Writable } from 'node:stream'
import { writeBatched } from '../util/bytes/write-batched.ts'

const INTERRUPT = Buffer.from([0x03])

/** No effect if the kernel is gone. */
export function sendInterrupt(stdin: Writable, bell?: Writable): void {
  if (!stdin.writable) return
  const ring = (): void => {
    if (bell?.writable) bell.write(INTERRUPT)
  }
  // Rings twice: before, so that a busy kernel reads what precedes the interrupt, and after the byte was written.
  ring()
  writeBatched(stdin, INTERRUPT, ring)
}
