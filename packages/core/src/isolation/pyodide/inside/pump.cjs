// A thread of the sandbox's process that moves bytes between file descriptor 0 or 1 and a shared-memory ring. One
// thread per direction, so neither can block the other. It does not parse frames. Ring positions come from hostile
// code: they are masked, never trusted.
'use strict'
const { read, readSync, writeSync } = require('node:fs')
const { workerData } = require('node:worker_threads')

// Where things are in `control`; devices.js has the same table.
const IN_HEAD = 0
const IN_TAIL = 1
const OUT_HEAD = 2
const OUT_TAIL = 3
const IN_TURN = 4
const OUT_TURN = 5

const INTERRUPT = 0x03
const SIGNAL = 63 // of signals.py
const { direction, control, inbound, outbound, interrupt } = workerData
const die = () => process.kill(process.pid, 'SIGKILL')

if (direction === 'in') pumpIn()
else pumpOut()

/** Kernel to bridge: waits for bytes, writes them, and signals that there is room. */
function pumpOut() {
  const mask = outbound.length - 1
  for (;;) {
    const turn = Atomics.load(control, OUT_TURN)
    const head = Atomics.load(control, OUT_HEAD) & mask
    const tail = Atomics.load(control, OUT_TAIL) & mask
    if (head === tail) {
      Atomics.wait(control, OUT_TURN, turn)
      continue
    }
    const end = head > tail ? head : outbound.length
    const count = write(outbound.slice(tail, end))
    Atomics.store(control, OUT_TAIL, (tail + count) & mask)
    Atomics.notify(control, OUT_TAIL)
  }
}

function write(chunk) {
  for (;;) {
    try {
      return writeSync(1, chunk)
    } catch (error) {
      if (error.code !== 'EAGAIN') die()
      Atomics.wait(control, 15, 0, 1)
    }
  }
}

/**
 * Bridge to kernel. It keeps reading while the ring is full, so that an interrupt behind many replies is still seen.
 * Bytes that do not fit wait in `queue`, up to QUEUE_BYTES. End of file means that the bridge has ended: the process
 * then ends at once, whatever Python does.
 */
function pumpIn() {
  const QUEUE_BYTES = 64 << 20
  const mask = inbound.length - 1
  const chunk = Buffer.allocUnsafeSlow(65536)
  const queue = []
  let queuedBytes = 0
  let reading = false
  let draining = false

  /** While nothing is queued, blocks in the read itself: a message then wakes two threads fewer. */
  const readAndWait = () => {
    while (queue.length === 0) receive(chunk.subarray(0, readNow()))
    readMore()
    drain()
  }

  const readNow = () => {
    for (;;) {
      try {
        const count = readSync(0, chunk, 0, chunk.length, null)
        if (count > 0) return count
        die()
      } catch (error) {
        if (error.code !== 'EAGAIN') die()
        Atomics.wait(control, 15, 0, 1)
      }
    }
  }

  const readMore = () => {
    if (reading || queuedBytes > QUEUE_BYTES) return
    reading = true
    read(0, chunk, 0, chunk.length, null, (error, count) => {
      reading = false
      if (error?.code === 'EAGAIN') {
        setTimeout(readMore, 1)
        return
      }
      if (error || count === 0) die()
      receive(chunk.subarray(0, count))
      if (queue.length === 0) {
        readAndWait()
        return
      }
      readMore()
      if (!draining) drain()
    })
  }

  const receive = (bytes) => {
    const kept = takeInterrupts(bytes)
    const moved = queue.length === 0 ? push(kept) : 0
    if (moved === kept.length) return
    queue.push(Buffer.from(kept.subarray(moved)))
    queuedBytes += kept.length - moved
  }

  const drain = () => {
    while (queue.length > 0) {
      const moved = push(queue[0])
      queuedBytes -= moved
      if (moved === queue[0].length) queue.shift()
      else queue[0] = queue[0].subarray(moved)
      if (moved === 0) break
    }
    readMore()
    draining = queue.length > 0
    if (!draining) return
    // The ring is full: wait up to 2 ms for Python to take some, then let pending reads complete.
    const tail = Atomics.load(control, IN_TAIL)
    if (((tail - Atomics.load(control, IN_HEAD) - 1) & mask) === 0) Atomics.wait(control, IN_TAIL, tail, 2)
    setImmediate(drain)
  }

  const push = (bytes) => {
    let at = 0
    while (at < bytes.length) {
      const head = Atomics.load(control, IN_HEAD) & mask
      const tail = Atomics.load(control, IN_TAIL) & mask
      const count = Math.min((tail - head - 1) & mask, bytes.length - at, inbound.length - head)
      if (count === 0) break
      inbound.set(bytes.subarray(at, at + count), head)
      Atomics.store(control, IN_HEAD, (head + count) & mask)
      wake()
      at += count
    }
    return at
  }

  const wake = () => {
    Atomics.add(control, IN_TURN, 1)
    Atomics.notify(control, IN_TURN)
  }

  const takeInterrupts = (bytes) => {
    if (!bytes.includes(INTERRUPT)) return bytes
    Atomics.store(interrupt, 0, SIGNAL)
    wake()
    return bytes.filter((byte) => byte !== INTERRUPT)
  }

  readAndWait()
}
