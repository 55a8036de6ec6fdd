// Puts a test's program in front of the installed one on the PATH, to imitate engines of other machines.
import { chmodSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { vi } from 'vitest'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** A folder at the front of PATH with one program, until the test is over. */
export function programOnPath(name: string, script: string): void {
  const folder = newFolder()
  chmodSync(folder, 0o755)
  writeFileSync(path.join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  vi.stubEnv('PATH', `${folder}:${process.env['PATH'] ?? ''}`)
}
