// Unpacks one tar archive, compressed or not, into a tree. Of what an archive can hold, a system that is only read needs folders, files and links.
import { Readable, pipeline } from 'node:stream'
import * as zlib from 'node:zlib'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { messageOf } from '../../errors.ts'
import { ArchiveError, type RootTree } from './root-tree.ts'

/** What all archives of one image may come to: the largest images for machine learning have half of it. */
export interface Allowance {
  entries: number
  bytes: number
}

export function newAllowance(): Allowance {
  return { entries: 1_000_000, bytes: 32 * 2 ** 30 }
}

/** How layers name what they take away from those below (OCI image specification, Whiteouts). */
const WHITEOUT = '.wh.'
const OPAQUE = '.wh..wh..opq'

/**
 * @param options.isLayer whether it lies over what the tree has, and may take away from it
 * @throws ArchiveError for an archive that is damaged or too large, or reaches outside; what node:fs throws
 */
export async function unpackTar(
  source: Readable,
  tree: RootTree,
  options: { allowance: Allowance; isLayer: boolean },
): Promise<void> {
  try {
    const plain = await decompressed(source)
    const stream = Readable.toWeb(plain) as unknown as ReadableStream<Uint8Array>
    const entries = stream.pipeThrough(createTarDecoder({ strict: true }))
    tree.startLayer()
    for await (const entry of entries) await unpackEntry(entry, tree, options)
  } catch (error) {
    // Errors of the decoders have no code of the operating system.
    if (error instanceof ArchiveError || isSystemError(error)) throw error
    throw new ArchiveError(`is damaged, or not a supported archive (${messageOf(error)})`)
  } finally {
    source.destroy()
  }
}

async function unpackEntry(
  { header, body }: ParsedTarEntry,
  tree: RootTree,
  { allowance, isLayer }: { allowance: Allowance; isLayer: boolean },
): Promise<void> {
  allowance.entries -= 1
  allowance.bytes -= header.size
  if (allowance.entries < 0 || allowance.bytes < 0) throw new ArchiveError('exceeds the limits of an image')
  const { name, type = 'file', linkname = '', mode = 0o644, mtime = new Date(0) } = header
  const last = name.slice(name.replace(/\/+$/, '').lastIndexOf('/') + 1)
  if (isLayer && last.startsWith(WHITEOUT)) takeAway(name, last, tree)
  else if (type === 'directory') tree.addFolder(name, { mode, mtime })
  else if (type === 'symlink') tree.addSymlink(name, linkname)
  else if (type === 'link') tree.addHardLink(name, linkname)
  else if (type === 'file') {
    return tree.addFile(name, { mode, mtime }, async (write) => {
      for await (const chunk of body) write(chunk)
    })
  }
  await body.cancel()
}

function takeAway(name: string, last: string, tree: RootTree): void {
  const folder = name.slice(0, name.length - last.length)
  const hidden = last.slice(WHITEOUT.length)
  if (last === OPAQUE) tree.whiteOutContent(folder)
  // Others that begin like it are notes that an old file system made for itself.
  else if (!hidden.startsWith(WHITEOUT) && hidden !== '') tree.whiteOut(`${folder}${hidden}`)
}

const isSystemError = (error: unknown): boolean => error instanceof Error && 'syscall' in error

/** By its first bytes: names tell nothing in an image. */
async function decompressed(source: Readable): Promise<Readable> {
  const head = await firstBytes(source, 4)
  if (head[0] === 0x1f && head[1] === 0x8b) return through(source, zlib.createGunzip())
  if (head.toString('hex') !== '28b52ffd') return source
  // Missing in older versions of Node, whatever its types say.
  const { createZstdDecompress } = zlib as { createZstdDecompress?: () => zlib.Gunzip }
  if (createZstdDecompress) return through(source, createZstdDecompress())
  throw new ArchiveError('is compressed with zstd, which needs Node 22.15 or newer. Compress it with gzip')
}

/** Errors of either end are heard from the stream that is returned. */
function through<T extends Readable & NodeJS.WritableStream>(source: Readable, decoder: T): T {
  pipeline(source, decoder, () => {})
  return decoder
}

async function firstBytes(source: Readable, count: number): Promise<Buffer> {
  let bytes = Buffer.alloc(0)
  while (bytes.length < count && !source.readableEnded) {
    const piece = source.read() as Buffer | null
    if (piece !== null) bytes = Buffer.concat([bytes, piece])
    else if (!(await isReadable(source))) break
  }
  if (bytes.length > 0) source.unshift(bytes)
  return bytes.subarray(0, count)
}

/** Whether there is more to read, once that is known. */
function isReadable(source: Readable): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const listeners = { readable: () => settle(true), end: () => settle(false), error: reject }
    const settle = (isMore: boolean) => {
      for (const [event, listener] of Object.entries(listeners)) source.off(event, listener)
      resolve(isMore)
    }
    for (const [event, listener] of Object.entries(listeners)) source.on(event, listener)
  })
}
