// The built page, read once into memory: no other files can be requested, so no path can leave the folder.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { BridgeError } from '../../errors.ts'
import { PACKAGE_ROOT } from '../../util/package-root.ts'

export interface PageFile {
  type: string
  bytes: Buffer
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** By URL path: `index.html`, `assets/….js`. @throws BridgeError CONFIG_INVALID when the page was not built */
export function readPageFiles(): ReadonlyMap<string, PageFile> {
  const folder = path.join(PACKAGE_ROOT, 'dist', 'web')
  if (!existsSync(folder))
    throw new BridgeError('CONFIG_INVALID', `The page is missing: ${folder}. Run \`npm run build\`.`)
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return new Map(
    names.flatMap((name) => {
      const type = TYPES[path.extname(name)]
      return type ? [[name.replaceAll('\\', '/'), { type, bytes: readFileSync(path.join(folder, name)) }] as const] : []
    }),
  )
}
