// How an interrupt reaches a kernel: one byte between its frames, and one on its bell where it has one (python/sandbridge_kernel/port_pipe.py).
import type { Writable } from 'node:stream'
import { writeBatched } from '../process/write-batched.ts'

const INTERRUPT = Buffer.from([0x03])

/** Harmless for a kernel that is gone. */
export function sendInterrupt(stdin: Writable, bell?: Writable): void {
  if (!stdin.writable) return
  const ring = (): void => {
    if (bell?.writable) bell.write(INTERRUPT)
  }
  // Before, so that a kernel that computes reads what is in the interrupt's way; and once it is there.
  ring()
  writeBatched(stdin, INTERRUPT, ring)
}
