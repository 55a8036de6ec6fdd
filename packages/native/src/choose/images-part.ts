// Images without an engine, as far as this package knows them.
import { Part } from '@sandbridge/core/util'

export const images = new Part<ImagesPart>('the unpacking of images')

interface ImagesPart {
  /**
   * Opens the system of an image, which it unpacks once.
   * @param onProgress called when an image is pulled or unpacked
   * @throws BridgeError CONFIG_INVALID for an unusable path, SANDBOX_IMAGE_MISSING or SANDBOX_ENGINE_MISSING for a name
   * that no engine has or can pull, SANDBOX_START_FAILED if the image cannot be unpacked
   */
  openRoot: (image: string, cacheDir: string, onProgress?: (message: string) => void) => Promise<RootFileSystem>
  /** True if an image of this name is already unpacked, so that no engine is needed. */
  isUnpacked: (name: string, cacheDir: string) => Promise<boolean>
}

/** The files of a system, and the environment that its programs expect. */
export interface RootFileSystem {
  /** Identifies its Python. */
  id: string
  folder: string
  /** `NAME=value`. */
  environment: string[]
}
