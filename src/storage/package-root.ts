// Where the package lies: src/ when run from its sources, one bundled folder dist/ when built, and beside them the files that are used as they are.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

function findRoot(folder: string): string {
  if (existsSync(path.join(folder, 'NOTICE'))) return folder
  return findRoot(path.dirname(folder))
}

export const PACKAGE_ROOT = findRoot(path.dirname(fileURLToPath(import.meta.url)))

/** Holds the package `sandbridge_kernel` and its `__main__.py`. */
export const KERNEL_FOLDER = path.join(PACKAGE_ROOT, 'python')
