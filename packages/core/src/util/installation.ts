// Which installation of the package this process is of. It may run from a copy of it: package-copy.ts of sandbridge.
import { statSync } from 'node:fs'
import path from 'node:path'
import { PACKAGE_ROOT, VERSION } from './package-root.ts'
import { textName } from './text/text-name.ts'

export { PACKAGE_ROOT }

/** The folder of copies, each of which has the name of its installation. */
export const COPIES = 'package-copies'
/** Names all other files of the program, and is another one after an update. */
export const PROGRAM = 'dist/main.js'

export function isCopy(): boolean {
  return path.basename(path.dirname(PACKAGE_ROOT)) === COPIES
}

/** Differs after an update, and is the same in the package and in a copy of it. */
export function installation(): string {
  if (isCopy()) return path.basename(PACKAGE_ROOT)
  const [folder, program] = [path.dirname(PROGRAM), PROGRAM].map((name) =>
    statSync(path.join(PACKAGE_ROOT, name), { throwIfNoEntry: false }),
  )
  // All files of a package may have one time, and their inodes may be those of the files before.
  return textName(JSON.stringify([VERSION, PACKAGE_ROOT, folder?.mtimeMs, program?.ino, program?.mtimeMs])).slice(0, 20)
}

/** The script that starts this program again. What this process was started from may have been replaced or removed. */
export function ownScript(script = process.argv[1]!): string {
  return isCopy() ? path.join(PACKAGE_ROOT, 'dist/cli.js') : script
}
