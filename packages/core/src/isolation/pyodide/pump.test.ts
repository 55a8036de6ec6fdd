// This file verifies the threads that move bytes, with real file descriptors of a process: a small program replaces the
// context and its devices.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { INSIDE_FOLDER } from './bundle.ts'

/** Runs `body` in a process with both pumps; it sees `rings`, `read()` and `write(bytes)` like the devices. */
const program = (body: string, ringBytes = 1024): string => `
const { Worker } = require('node:worker_threads')
const shared = (bytes) => new Uint8Array(new SharedArrayBuffer(bytes))
const rings = { control: new Int32Array(new SharedArrayBuffer(64)), inbound: shared(${ringBytes}), outbound: shared(${ringBytes}), interrupt: shared(1) }
const device = {}
const fs = {
  makedev: (_, minor) => minor, mkdev() {}, unlink() {}, ErrnoError: class extends Error { constructor(errno) { super('errno ' + errno) } },
  registerDevice: (minor, ops) => { device[minor] = ops },
}
;(0, eval)(require('node:fs').readFileSync(${JSON.stringify(join(INSIDE_FOLDER, 'devices.js'))}, 'utf8'))(fs, rings)
for (const direction of ['in', 'out'])
  new Worker(${JSON.stringify(join(INSIDE_FOLDER, 'pump.cjs'))}, { workerData: { direction, ...rings } })
const read = (max = 1 << 16) => { const b = new Uint8Array(max); return b.subarray(0, device[0].read(null, b, 0, max)) }
const write = (bytes) => device[0].write(null, bytes, 0, bytes.length)
const wait = (seconds) => device[1].write(null, new Uint8Array(new Float64Array([seconds]).buffer), 0, 8)
${body}`

function start(body: string, ringBytes?: number) {
  const child = spawn(process.execPath, ['-e', program(body, ringBytes)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise<string | null>((resolve) => child.once('exit', (_code, signal) => resolve(signal)))
  const output = (async () => {
    const chunks: Buffer[] = []
    for await (const chunk of child.stdout) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks)
  })()
  child.stdin.on('error', () => {})
  return { child, ended, output }
}

/** Reads as many bytes as the first line says, sends them back, and waits for the end. */
const ECHO = `
let left = -1, head = ''
while (left !== 0) {
  let bytes = read()
  if (left < 0) {
    head += Buffer.from(bytes).toString('latin1')
    const end = head.indexOf('\\n')
    if (end < 0) continue
    left = Number(head.slice(0, end))
    bytes = Uint8Array.from(Buffer.from(head.slice(end + 1), 'latin1'))
  }
  left -= bytes.length
  write(bytes)
}
read()`

/** A number and 200 have no common factor, so each 200 bytes have all values. */
const PATTERN = Buffer.from(Array.from({ length: 200 }, (_, i) => 32 + ((i * 7919) % 200)))
const data = (length: number): Buffer => Buffer.alloc(length, PATTERN)

it.each([
  ['far more than a ring holds', 300_000, 1024],
  ['less than a ring holds', 100, 1024],
  ['exactly what a ring holds', 1024, 1024],
  ['one byte more than fits', 1025, 1024],
  ['many pipe buffers', 5_000_000, 1 << 20],
])('pumps pass bytes on unchanged: %s', async (_, length, ringBytes) => {
  const { child, ended, output } = start(ECHO, ringBytes)
  const sent = data(length)
  child.stdin.write(`${length}\n`)
  child.stdin.write(sent)
  let got = 0
  child.stdout.on('data', (chunk: Buffer) => {
    got += chunk.length
    if (got === length) child.stdin.end()
  })
  expect(await ended).toBe('SIGKILL')
  expect((await output).equals(sent)).toBe(true)
})

it('pumps end a process that does not listen when the input ends', async () => {
  const { child, ended } = start(`write(Uint8Array.of(46)); for (;;);`)
  child.stdout.once('data', () => child.stdin.end())
  expect(await ended).toBe('SIGKILL')
})

it('pumps take an interrupt out of the bytes wherever it is, and wake a reader', async () => {
  const { child, output } = start(`
      try { wait(1000) } catch (error) { write(Buffer.from(error.message + ' ' + rings.interrupt[0] + ';')) }
      rings.interrupt[0] = 0
      const bytes = []
      while (!bytes.includes(33)) { try { bytes.push(...read()) } catch { rings.interrupt[0] = 0 } }
      write(Buffer.from(bytes)); write(Buffer.from('.'))
      for (;;);`)
  child.stdin.write(Buffer.from([3]))
  child.stdout.once('data', () => child.stdin.write(Buffer.from('a\x03b\x03\x03c!')))
  child.stdout.on('data', (chunk: Buffer) => chunk.includes('.') && child.stdin.end())
  expect((await output).toString()).toBe('errno 27 63;abc!.')
})

it('pumps see an interrupt behind more unread bytes than the ring holds', async () => {
  const { child, output } = start(`
      write(Buffer.from('on'))
      while (rings.interrupt[0] === 0);
      write(Buffer.from(' interrupted'))
      for (;;);`)
  child.stdout.once('data', () => {
    child.stdin.write(data(500_000))
    child.stdin.write(Buffer.from([3]))
  })
  child.stdout.on('data', (chunk: Buffer) => chunk.includes('interrupted') && child.stdin.end())
  expect((await output).toString()).toBe('on interrupted')
})

it('pumps distinguish input from a timeout', async () => {
  const { child, output } = start(`
      const first = wait(0.01)
      write(Buffer.from('a'))
      write(Buffer.from([first + 48, wait(1000) + 48]))
      for (;;);`)
  child.stdout.once('data', () => child.stdin.write('x'))
  child.stdout.on('data', (chunk: Buffer) => chunk.includes('8') && child.stdin.end())
  expect((await output).toString()).toBe('a18')
})

it.each([
  ['positions far outside', 'rings.control.fill(0x7fffffff)'],
  ['negative positions', 'rings.control.fill(-5)'],
  ['positions that change all the time', 'for (let i = 0; i < 1e6; i++) rings.control[i % 6] = i * 2654435761'],
])('pumps with hostile rings harm only their own sandbox: %s', async (_, attack) => {
  const { child, ended } = start(`
      write(Buffer.from('on'))
      read(1)
      ${attack}
      Atomics.notify(rings.control, 5); Atomics.notify(rings.control, 4)
      setTimeout(() => { for (;;); }, 100)`)
  child.stdout.once('data', () => {
    child.stdin.write(data(10_000))
    child.stdin.end()
  })
  // The pump ended it: it neither left its loop nor ran out of memory.
  expect(await ended).toBe('SIGKILL')
})
