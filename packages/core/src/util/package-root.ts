// The package's files: src/ from sources, dist/ when built, and unchanged files beside them.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

function findRoot(folder: string): string {
  if (existsSync(path.join(folder, 'NOTICE'))) return folder
  return findRoot(path.dirname(folder))
}

export const PACKAGE_ROOT = findRoot(import.meta.dirname)

/** Contains the package `sandbridge_kernel` and its `__main__.py`. */
export const KERNEL_FOLDER = path.join(PACKAGE_ROOT, 'packages/core/python')

const packageJson = JSON.parse(readFileSync(path.join(PACKAGE_ROOT, 'package.json'), 'utf8')) as { version: string }

export const VERSION = packageJson.version

/** How the bridge introduces itself to servers. */
export const CLIENT_INFO = { name: 'sandbridge', version: VERSION }
