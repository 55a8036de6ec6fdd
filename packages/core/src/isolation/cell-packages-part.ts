// Python packages for cells, as far as the core knows them.
import path from 'node:path'
import { Part } from '../util/part.ts'
import type { MissingPackage } from './provider.ts'

export const pythonPackages = new Part<PackagesPart>('the installation of packages')

interface PackagesPart {
  /**
   * Returns the files of those packages that the embedded sandbox can have.
   * @param words wheel files, folders of them, and requirements
   * @param mirror URL of a folder with the files of Pyodide's distribution, with a trailing `/`
   */
  packageFiles: (
    words: readonly string[],
    cacheFolder: string,
    mirror: string | undefined,
    onProgress: (message: string) => void,
  ) => Promise<PackageFiles>
}

export interface PackageFiles {
  files: PackageFile[]
  missing: MissingPackage[]
}

export interface PackageFile {
  /** Relative to the folder of packages, with `/`. */
  path: string
  data: Buffer
}

/** The name that an index knows a requirement by, or the beginning of a wheel's file name. */
export function packageName(word: string): string {
  const file = path.basename(word)
  return word.endsWith('.whl') ? file.split('-')[0]! : (/^[A-Za-z0-9][\w.-]*/.exec(word)?.[0] ?? word)
}
