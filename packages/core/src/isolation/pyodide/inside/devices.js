// Runs in the empty context: Python's character devices. Two of them use shared-memory rings, whose other ends are in
// pump.cjs. The script's value is a function that returns what other devices are made with. Hostile code may call and
// corrupt everything here, so code outside trusts nothing in the rings.
'use strict'
// oxlint-disable-next-line no-unused-expressions -- the function is the value of this script
;(fs, { control, inbound, outbound, interrupt }) => {
  const { load, store, add, notify, wait } = Atomics
  const IN_HEAD = 0
  const IN_TAIL = 1
  const OUT_HEAD = 2
  const OUT_TAIL = 3
  const IN_TURN = 4
  const OUT_TURN = 5
  const MASK = inbound.length - 1
  const EINTR = 27
  const SIGNAL = 63 // of signals.py

  const readFrames = (_stream, buffer, offset, length) => {
    for (;;) {
      const turn = load(control, IN_TURN)
      const head = load(control, IN_HEAD)
      const tail = load(control, IN_TAIL)
      if (head !== tail) {
        const count = Math.min(length, head > tail ? head - tail : inbound.length - tail)
        buffer.set(inbound.subarray(tail, tail + count), offset)
        store(control, IN_TAIL, (tail + count) & MASK)
        notify(control, IN_TAIL)
        return count
      }
      if (interrupt[0] !== 0) throw new fs.ErrnoError(EINTR)
      wait(control, IN_TURN, turn)
    }
  }

  const writeFrames = (_stream, buffer, offset, length) => {
    let written = 0
    while (written < length) {
      const head = load(control, OUT_HEAD)
      const tail = load(control, OUT_TAIL)
      const free = (tail - head - 1) & MASK
      if (free === 0) {
        wait(control, OUT_TAIL, tail)
        continue
      }
      const count = Math.min(free, length - written, outbound.length - head)
      outbound.set(buffer.subarray(offset + written, offset + written + count), head)
      store(control, OUT_HEAD, (head + count) & MASK)
      add(control, OUT_TURN, 1)
      notify(control, OUT_TURN)
      written += count
    }
    return written
  }

  const seconds = new DataView(new ArrayBuffer(8))
  const waitForInput = (_stream, buffer, offset, length) => {
    if (length === 1) return (interrupt[0] = SIGNAL) && 1 // an interrupt that Python cannot raise yet
    if (length !== 8) throw new fs.ErrnoError(28)
    for (let i = 0; i < 8; i++) seconds.setUint8(i, buffer[offset + i])
    const endMs = Date.now() + seconds.getFloat64(0, true) * 1000
    for (;;) {
      const turn = load(control, IN_TURN)
      if (load(control, IN_HEAD) !== load(control, IN_TAIL)) return 8
      if (interrupt[0] !== 0) throw new fs.ErrnoError(EINTR)
      const leftMs = endMs - Date.now()
      if (!(leftMs > 0)) return 1
      wait(control, IN_TURN, turn, leftMs)
    }
  }

  // `buffer` is a view of all of Python's memory.
  const readMemorySize = (_stream, buffer, offset, length) => {
    if (length < 8) return 0
    new DataView(buffer.buffer, buffer.byteOffset + offset, 8).setFloat64(0, buffer.length, true)
    return 8
  }

  const device = (minor, path, read, write) => {
    const id = fs.makedev(99, minor)
    fs.registerDevice(id, {
      open(stream) {
        stream.seekable = false
      },
      close() {},
      llseek: () => 0,
      read,
      write,
    })
    fs.mkdev(path, 0o666, id)
  }
  device(0, '/dev/sandbridge', readFrames, writeFrames)
  device(1, '/dev/sandbridge-wait', () => 0, waitForInput)
  device(2, '/dev/sandbridge-memory', readMemorySize, () => 0)
  // Their own files would lead past the pipes that Python has put in place of its descriptors.
  for (const [fd, path] of [
    [1, '/dev/stdout'],
    [2, '/dev/stderr'],
  ]) {
    fs.unlink(path)
    device(
      4 + fd,
      path,
      () => 0,
      (_stream, ...bytes) => fs.write(fs.getStream(fd), ...bytes.slice(0, 3)),
    )
  }
  return { device, writeFrames }
}
