// A bubblewrap that can create no namespace, as on systems that forbid it.
import { chmodSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { newFolder } from '../machine/new-folder.ts'

/** A folder for the front of PATH, deleted with the test. */
export function refusingBubblewrap(): string {
  const folder = newFolder()
  chmodSync(folder, 0o755)
  const script = '#!/bin/sh\nexec /usr/bin/bwrap --unshare-user --disable-userns "$@"\n'
  writeFileSync(path.join(folder, 'bwrap'), script, { mode: 0o755 })
  return folder
}
