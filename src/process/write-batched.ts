// Writes to the pipe of a child process. Of all that a bridge does for a call, the system calls cost most.
import type { Writable } from 'node:stream'

type Done = (error?: Error | null) => void

interface Batch {
  length: number
  chunks: (string | Buffer)[]
  waiting: Done[]
}

/** What is longer goes as it is: copying it would cost more than it saves. */
const COPIED_LENGTH = 16 * 1024

const batches = new WeakMap<Writable, Batch>()

/** Write; what is written to a stream in one turn of the event loop becomes one system call. */
export function writeBatched(stream: Writable, data: string | Buffer, done?: Done): void {
  if (data.length > COPIED_LENGTH) {
    flush(stream)
    stream.write(data, done)
    return
  }
  let batch = batches.get(stream)
  if (!batch) {
    batch = { length: 0, chunks: [], waiting: [] }
    batches.set(stream, batch)
    process.nextTick(flush, stream)
  }
  batch.chunks.push(data)
  if (done) batch.waiting.push(done)
  batch.length += data.length
  // The process at the other end works on it meanwhile.
  if (batch.length > COPIED_LENGTH) flush(stream)
}

function flush(stream: Writable): void {
  const batch = batches.get(stream)
  if (!batch) return
  batches.delete(stream)
  const { chunks, waiting } = batch
  const data = joined(chunks)
  if (waiting.length === 0) stream.write(data)
  else stream.write(data, (error) => waiting.forEach((done) => done(error)))
}

function joined(chunks: (string | Buffer)[]): string | Buffer {
  if (chunks.length === 1) return chunks[0]!
  // Calls and their answers are texts, and text is joined without being copied.
  if (chunks.every((chunk) => typeof chunk === 'string')) return chunks.join('')
  return Buffer.concat(chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk)))
}
