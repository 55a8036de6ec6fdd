// Writes to the pipe of a child process in batches: system calls are the largest cost of a call in the bridge.
import type { Writable } from 'node:stream'

type Done = (error?: Error | null) => void

/** Longer data is written directly: copying it would cost more than it saves. */
const COPIED_LENGTH = 16 * 1024

const batches = new WeakMap<Writable, { length: number; chunks: (string | Buffer)[]; waiting: Done[] }>()

/** Write data. Everything written to a stream in one turn of the event loop becomes one system call. */
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
  // So that the other process can start on it.
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
  // Calls and replies are usually strings, which join without copying.
  if (chunks.every((chunk) => typeof chunk === 'string')) return chunks.join('')
  return Buffer.concat(chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk)))
}
