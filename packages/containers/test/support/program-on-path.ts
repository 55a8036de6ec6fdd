// Puts a test's program in front of the installed one on the PATH, to imitate engines of other machines.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished, vi } from 'vitest'

/** A folder at the front of PATH with one program, until the test is over. */
export function programOnPath(name: string, script: string): void {
  const folder = mkdtempSync(path.join(tmpdir(), 'engine-'))
  chmodSync(folder, 0o755)
  writeFileSync(path.join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const before = process.env['PATH'] ?? ''
  vi.stubEnv('PATH', `${folder}:${before}`)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })
}
