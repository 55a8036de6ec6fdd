// Reads the metadata of an unpacked image archive: an OCI layout (`podman save --format oci-archive`, and docker since
// version 25), or the older format of `docker save`. Returns its layers and the environment of its programs.
import { chmodSync, readFileSync, statSync } from 'node:fs'
import { fieldsOf, isRecord, itemsOf, parseJson } from '@sandbridge/core/util/json/json.ts'
import { ArchiveError, type RootTree } from './root-tree.ts'

export interface ArchivedImage {
  /** Files on this machine, the lowest layer first. */
  layers: string[]
  /** `NAME=value`, as in the image. */
  environment: string[]
}

type Json = Record<string, unknown>

const MAX_JSON_BYTES = 8 << 20
const MAX_LAYERS = 1000

/**
 * @returns undefined if the tree is not an image archive
 * @throws ArchiveError if it is incomplete or contains several images
 */
export function readImageArchive(tree: RootTree): ArchivedImage | undefined {
  // Docker writes both; the older needs no choice of a platform. A system may have a file of this name.
  const images = tree.fileAt('manifest.json') === undefined ? [] : itemsOf(readJson(tree, 'manifest.json'))
  const [image, ...others] = images.map(fieldsOf)
  if (image && Array.isArray(image['Layers'])) {
    if (others.length > 0) throw severalImages(images.length)
    return toImage(tree, image['Layers'].map(textOf), textOf(image['Config']))
  }
  return tree.fileAt('oci-layout') === undefined ? undefined : readOciLayout(tree)
}

function readOciLayout(tree: RootTree): ArchivedImage {
  let manifest = fieldsOf(readJson(tree, 'index.json'))
  // An index may refer to another one, with an image per platform.
  for (let depth = 0; depth < 4 && Array.isArray(manifest['manifests']); depth += 1) {
    const candidates = itemsOf(manifest['manifests']).map(fieldsOf).filter(isForThisMachine)
    if (candidates.length !== 1) throw severalImages(candidates.length)
    manifest = fieldsOf(readJson(tree, blobOf(candidates[0]!)))
  }
  const layers = itemsOf(manifest['layers']).map((layer) => blobOf(fieldsOf(layer)))
  return toImage(tree, layers, blobOf(fieldsOf(manifest['config'])))
}

/** Accepts a manifest without a platform: usually it is the only one. */
function isForThisMachine({ platform }: Json): boolean {
  if (!isRecord(platform)) return true
  const names: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64' }
  return platform['os'] === 'linux' && platform['architecture'] === (names[process.arch] ?? process.arch)
}

function severalImages(count: number): ArchiveError {
  return new ArchiveError(`holds ${count} images for this machine, not one`)
}

/** Returns the path of a blob in the archive. */
function blobOf({ digest }: Json): string {
  const [, algorithm, hex] = /^(\w{1,20}):([\da-f]{1,128})$/.exec(textOf(digest)) ?? []
  if (hex === undefined) throw new ArchiveError('has invalid digests')
  return `blobs/${algorithm}/${hex}`
}

function toImage(tree: RootTree, layers: readonly string[], configPath: string): ArchivedImage {
  if (layers.length > MAX_LAYERS) throw new ArchiveError('has too many layers')
  const config = fieldsOf(fieldsOf(readJson(tree, configPath))['config'])
  return {
    layers: layers.map((layer) => requiredFile(tree, layer)),
    environment: itemsOf(config['Env']).map(textOf),
  }
}

function readJson(tree: RootTree, name: string): unknown {
  const file = requiredFile(tree, name)
  if (statSync(file).size > MAX_JSON_BYTES) throw new ArchiveError(`has a ${name} that is too large`)
  return parseJson(readFileSync(file, 'utf8'))
}

function requiredFile(tree: RootTree, name: string): string {
  const file = tree.fileAt(name)
  if (file === undefined) throw new ArchiveError(`has no file ${JSON.stringify(name.slice(0, 200))}, which it names`)
  // The user who saved it may have made it unreadable for others.
  chmodSync(file, 0o400)
  return file
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
