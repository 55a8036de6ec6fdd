// The version in package.json.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { PACKAGE_ROOT } from './package-root.ts'

const packageJson = JSON.parse(readFileSync(path.join(PACKAGE_ROOT, 'package.json'), 'utf8')) as { version: string }

export const VERSION = packageJson.version

/** How the bridge introduces itself to servers. */
export const CLIENT_INFO = { name: 'sandbridge', version: VERSION }
