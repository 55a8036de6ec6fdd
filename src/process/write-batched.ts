// Writes to the pipe of a child process. Of all that a bridge does for a call, the system calls cost most.
import type { Writable } from 'node:stream'

type Done = (error?: Error | null) => void

interface Batch {
  chunks: Buffer[]
  bytes: number
  waiting: Done[]
}

/** What is longer goes as it is: copying it would cost more than it saves. */
const COPIED_BYTES = 16 * 1024

const batches = new WeakMap<Writable, Batch>()

/** Write; what is written to a stream in one turn of the event loop becomes one system call. */
export function writeBatched(stream: Writable, data: Buffer, done?: Done): void {
  if (data.length > COPIED_BYTES) {
    flush(stream)
    stream.write(data, done)
    return
  }
  let batch = batches.get(stream)
  if (!batch) {
    batch = { chunks: [], bytes: 0, waiting: [] }
    batches.set(stream, batch)
    process.nextTick(flush, stream)
  }
  batch.chunks.push(data)
  batch.bytes += data.length
  if (done) batch.waiting.push(done)
}

function flush(stream: Writable): void {
  const batch = batches.get(stream)
  if (!batch) return
  batches.delete(stream)
  const { chunks, bytes, waiting } = batch
  const data = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, bytes)
  if (waiting.length === 0) stream.write(data)
  else stream.write(data, (error) => waiting.forEach((done) => done(error)))
}
