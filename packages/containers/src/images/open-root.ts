// Opens the system that MCP_BRIDGE_IMAGE names: a folder, or the content of an archive or image, unpacked once.
import { createReadStream } from 'node:fs'
import { mkdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import { closedFolderOnTheWay } from '@sandbridge/core/isolation'
import { isImagePath } from '@sandbridge/native/choose/image-name.ts'
import { exportImage, findEngineImage, pullEngineImage } from './export-image.ts'
import { readImageArchive } from './image-archive.ts'
import { ArchiveError, RootTree } from './root-tree.ts'
import { newAllowance, unpackTar } from './unpack-tar.ts'
import type { RootFileSystem } from '@sandbridge/native/choose/images-part.ts'
import { UnpackedImages } from './unpacked-images.ts'
import { isInside } from '@sandbridge/core/util/files'

type OnProgress = (message: string) => void

/** Large reads: an image has hundreds of megabytes. */
const PIECE_BYTES = 1 << 20

/** See `ImagesPart`. */
export async function openRoot(
  image: string,
  cacheDir: string,
  onProgress: OnProgress = () => {},
): Promise<RootFileSystem> {
  const images = new UnpackedImages(cacheDir)
  if (!isImagePath(image)) return openEngineImage(image, images, cacheDir, onProgress)
  const place = await realpath(image).catch(() => image)
  const about = await stat(place).catch(() => undefined)
  if (about === undefined) throw unusable(image, 'is not there, or cannot be read')
  if (about.isDirectory()) return openFolder(place, cacheDir)
  await checkWay(cacheDir, 'Set MCP_BRIDGE_CACHE_DIR to a folder that other users can enter.')
  const id = `${place} ${about.size} ${about.mtimeMs}`
  return unpacking(image, () =>
    images.ensure({ source: place, id }, async (folder) => {
      onProgress(`Unpacking ${place} (once)`)
      return unpackArchive(place, folder)
    }),
  )
}

export async function isUnpacked(name: string, cacheDir: string): Promise<boolean> {
  return (await new UnpackedImages(cacheDir).lastOf(name)) !== undefined
}

async function openEngineImage(
  name: string,
  images: UnpackedImages,
  cacheDir: string,
  onProgress: OnProgress,
): Promise<RootFileSystem> {
  await checkWay(cacheDir, 'Set MCP_BRIDGE_CACHE_DIR to a folder that other users can enter.')
  const present = await findEngineImage(name)
  const known = present ? undefined : await images.lastOf(name)
  if (known) return known
  const found = present ?? (await pullEngineImage(name, onProgress))
  return unpacking(name, () =>
    images.ensure({ source: name, id: found.image.id }, async (folder) => {
      onProgress(`Unpacking ${name} with ${found.engine} (once)`)
      const archive = `${folder}.tar`
      await exportImage(found, archive)
      await unpackArchive(archive, folder)
      await rm(archive)
      return found.image.environment
    }),
  )
}

async function openFolder(folder: string, cacheDir: string): Promise<RootFileSystem> {
  const own = [homedir(), cacheDir].find((one) => isInside(folder, one))
  if (own !== undefined) throw unusable(folder, `also holds ${own}, which cells must not read`)
  await checkWay(path.join(folder, 'usr'), 'Move the folder to a place that other users can enter.')
  return { id: folder, folder, environment: [] }
}

/** Unpacks into an empty folder. @returns the environment of the image */
async function unpackArchive(file: string, folder: string): Promise<string[]> {
  const allowance = newAllowance()
  const read = (name: string): Readable => createReadStream(name, { highWaterMark: PIECE_BYTES })
  // The kind of archive is known only after unpacking: the deciding file may be its last entry.
  const outer = `${folder}.outer`
  await mkdir(outer, { mode: 0o755 })
  const tree = new RootTree(outer)
  await unpackTar(read(file), tree, { allowance, isLayer: false })
  const image = readImageArchive(tree)
  if (!image) {
    tree.finish()
    await rename(outer, folder)
    return []
  }
  const system = new RootTree(folder)
  for (const layer of image.layers) await unpackTar(read(layer), system, { allowance, isLayer: true })
  system.finish()
  await rm(outer, { recursive: true })
  return image.environment
}

async function unpacking<T>(image: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (BridgeError.isInstance(cause)) throw cause
    if (cause instanceof ArchiveError) throw unusable(image, cause.message)
    throw new BridgeError('SANDBOX_START_FAILED', `${image} cannot be unpacked into the cache: ${messageOf(cause)}`, {
      hint: 'Make MCP_BRIDGE_CACHE_DIR writable, with room for the image.',
      cause,
    })
  }
}

/** Root's sandboxes run as another user. */
async function checkWay(place: string, hint: string): Promise<void> {
  const closed = await closedFolderOnTheWay(place)
  if (closed === undefined) return
  throw new BridgeError('CONFIG_INVALID', `Sandboxes of root run as another user, who cannot enter ${closed}`, { hint })
}

function unusable(image: string, reason: string): BridgeError {
  return new BridgeError('CONFIG_INVALID', `MCP_BRIDGE_IMAGE: ${image} ${reason}`, {
    hint: 'Set it to an image’s name, a folder with a system that has Python, or an archive of one: see docs/sandboxes.md.',
  })
}
