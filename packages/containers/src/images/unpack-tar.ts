// Unpacks a tar archive into a tree: folders, files and links, enough for a read-only system.
import { Readable } from 'node:stream'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { messageOf } from '@sandbridge/core/errors.ts'
import { decoded } from '@sandbridge/shared/unpack/decoded.ts'
import { ArchiveError, type RootTree } from './root-tree.ts'

/** Limit for all archives of one image, twice the size of the largest images for machine learning. */
export interface Allowance {
  entries: number
  bytes: number
}

export function newAllowance(): Allowance {
  return { entries: 1_000_000, bytes: 32 * 2 ** 30 }
}

/** Names with which layers remove entries of lower ones (OCI image specification, Whiteouts). */
const WHITEOUT = '.wh.'
const OPAQUE = '.wh..wh..opq'

/**
 * @param options.isLayer the archive lies on top of the tree and may remove entries
 * @throws ArchiveError for an archive that is damaged or too large, or reaches outside; what node:fs throws
 */
export async function unpackTar(
  source: Readable,
  tree: RootTree,
  options: { allowance: Allowance; isLayer: boolean },
): Promise<void> {
  try {
    // Names in an image say nothing reliable of its compression.
    const stream = Readable.toWeb(Readable.from(decoded(source))) as unknown as ReadableStream<Uint8Array>
    const entries = stream.pipeThrough(createTarDecoder({ strict: true }))
    tree.startLayer()
    for await (const entry of entries) await unpackEntry(entry, tree, options)
  } catch (error) {
    // Errors of decoders have no code of the operating system.
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
  // Other names with this prefix are internal to an old file system.
  else if (!hidden.startsWith(WHITEOUT) && hidden !== '') tree.whiteOut(`${folder}${hidden}`)
}

const isSystemError = (error: unknown): boolean => error instanceof Error && 'syscall' in error
