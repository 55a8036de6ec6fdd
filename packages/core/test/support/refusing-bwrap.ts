// A bubblewrap that can create no namespace, as on systems that forbid it.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder for the front of PATH, deleted with the test. */
export function refusingBubblewrap(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'bwrap-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  chmodSync(folder, 0o755)
  const script = '#!/bin/sh\nexec /usr/bin/bwrap --unshare-user --disable-userns "$@"\n'
  writeFileSync(path.join(folder, 'bwrap'), script, { mode: 0o755 })
  return folder
}
