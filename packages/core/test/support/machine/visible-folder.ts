import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { skip } from '../suite/needs.ts'

/** A folder that sandboxes may see and every user can read: outside of /tmp and /usr. Removed with the test. */
export function visibleFolder(): string {
  const parent = process.getuid?.() === 0 ? '/opt' : homedir()
  const folder = made(parent) ?? skip(`it needs a ${parent} that can be written to`)
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o755)
  return folder
}

function made(parent: string): string | undefined {
  try {
    return mkdtempSync(path.join(parent, 'sandbridge-test-'))
  } catch {
    return undefined
  }
}
