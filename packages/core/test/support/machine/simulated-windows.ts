// A Windows that is simulated for tests that spy on `node:child_process`.
import { realpathSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { needsPosix } from '../suite/needs.ts'
import { newFolder } from './new-folder.ts'

/** A folder with programs that end at once; on the PATH of a simulated Windows, behind the working folder. */
export function onWindows(...names: string[]): string {
  needsPosix('a program that is a script')
  const root = realpathSync(newFolder())
  for (const name of names) writeFileSync(path.join(root, name), '#!/bin/sh\nexit 0', { mode: 0o755 })
  vi.stubEnv('PATH', undefined)
  vi.stubEnv('Path', `;.;${path.relative(process.cwd(), root)};"${root}";`)
  const { platform } = process
  Object.defineProperty(process, 'platform', { value: 'win32' })
  onTestFinished(() => {
    Object.defineProperty(process, 'platform', { value: platform })
    vi.clearAllMocks()
  })
  return root
}

/** Variables of each process: Windows then looks for no program in the working folder. */
export const fromNowhere = { NoDefaultCurrentDirectoryInExePath: '1' }
