// Writes output directly to the descriptors that the kernel reads. Node's streams would make them non-blocking for
// every process that shares them.
import { Console } from 'node:console'
import fs from 'node:fs'
import { Writable } from 'node:stream'

export function useOutput(): void {
  const stdout = streamTo(1)
  const stderr = streamTo(2)
  Object.defineProperty(process, 'stdout', { value: stdout, configurable: true })
  Object.defineProperty(process, 'stderr', { value: stderr, configurable: true })
  const console = new Console({ stdout, stderr, colorMode: false, inspectOptions: { depth: 6, breakLength: 120 } })
  Object.defineProperty(globalThis, 'console', { value: console, configurable: true, writable: true })
}

function streamTo(fd: number): Writable {
  const { writeSync } = fs
  const write = (chunk: Buffer | string): void => {
    let rest = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(fd, rest))
      } catch (error) {
        // A program started by the cell has made the descriptor non-blocking.
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
      }
    }
  }
  const stream = new Writable({
    decodeStrings: true,
    write: (chunk: Buffer, _encoding, done) => {
      write(chunk)
      done()
    },
  })
  return Object.assign(stream, { fd, isTTY: false })
}
