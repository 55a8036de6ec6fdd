// Images without an engine, as far as the core knows them.
import { Part } from '../util/part.ts'

export const images = new Part<ImagesPart>('the unpacking of images')

interface ImagesPart {
  /** Opens the system of an image, which it unpacks once. @throws BridgeError CONFIG_INVALID, SANDBOX_* */
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
