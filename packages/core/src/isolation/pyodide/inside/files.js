// Runs in the empty context: limits the in-memory file system, which lies on JavaScript's heap. Beyond the limit,
// Python gets an OSError (ENOSPC) instead of the process running out of memory. The script's value is a function. The
// hard limit is the memory cap of the process.
'use strict'
// oxlint-disable-next-line no-unused-expressions -- the function is the value of this script
;(fs, maxBytes) => {
  const memfs = fs.filesystems.MEMFS
  const ENOSPC = 51
  // An upper bound. It only grows, and is recounted when it reaches the limit, so deleting needs no bookkeeping.
  let usedBytes = 0

  const sizeOf = (node) => (fs.isFile(node.mode) ? (node.contents?.length ?? 0) : 0)

  const countAgain = () => {
    const seen = new Set()
    const pending = [fs.root]
    // Deleted files that are still open use memory as well.
    for (const stream of fs.streams) if (stream?.node) pending.push(stream.node)
    usedBytes = 0
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      if (seen.has(node)) continue
      seen.add(node)
      usedBytes += sizeOf(node)
      if (fs.isDir(node.mode) && node.contents) pending.push(...Object.values(node.contents))
    }
  }

  const reserve = (node, size) => {
    const growth = size - sizeOf(node)
    if (growth <= 0) return
    if (usedBytes + growth > maxBytes) countAgain()
    if (usedBytes + growth > maxBytes) throw new fs.ErrnoError(ENOSPC)
  }

  const bound = (original, nodeAndSize) =>
    function (...args) {
      const { node, size } = nodeAndSize(...args)
      const before = sizeOf(node)
      reserve(node, size)
      const result = original.apply(this, args)
      usedBytes += Math.max(0, sizeOf(node) - before)
      return result
    }

  // What is there from the start, such as packages, leaves the cell's files their room.
  countAgain()
  maxBytes += usedBytes

  const streamOps = memfs.ops_table.file.stream
  streamOps.write = bound(streamOps.write, (stream, _buffer, _offset, length, position) => ({
    node: stream.node,
    size: position + length,
  }))
  memfs.resizeFileStorage = bound(memfs.resizeFileStorage, (node, size) => ({ node, size }))
}
