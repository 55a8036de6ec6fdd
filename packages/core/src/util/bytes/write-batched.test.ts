import { PassThrough, Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { writeBatched } from './write-batched.ts'

it('writes of one turn become one write, in order, and long pieces are written by themselves', async () => {
  const writes: string[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      writes.push(chunk.length > 100 ? `${chunk.length} bytes` : chunk.toString())
      done()
    },
  })
  const done: string[] = []
  writeBatched(stream, Buffer.from('a'), () => done.push('a'))
  writeBatched(stream, Buffer.from('b'), () => done.push('b'))
  writeBatched(stream, Buffer.alloc(20_000))
  writeBatched(stream, Buffer.from('c'))
  await new Promise((resolve) => setImmediate(resolve))
  writeBatched(stream, Buffer.from('d'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(writes).toEqual(['ab', '20000 bytes', 'c', 'd'])
  expect(done).toEqual(['a', 'b'])
})

it('much that is written in one turn goes before it ends, so that whoever reads it can begin', () => {
  const writes: number[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      writes.push(chunk.length)
      done()
    },
  })
  for (let count = 0; count < 10; count += 1) writeBatched(stream, 'x'.repeat(6_000))
  expect(writes).toEqual([18_000, 18_000, 18_000])
})

it('every writer learns that the stream is closed', async () => {
  const stream = new PassThrough()
  stream.on('error', () => {})
  stream.destroy()
  const errors = await Promise.all(
    ['a', 'b'].map((text) => new Promise((resolve) => writeBatched(stream, Buffer.from(text), resolve))),
  )
  expect(errors).toEqual([expect.any(Error), expect.any(Error)])
})
