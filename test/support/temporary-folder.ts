// What tests make in the folder for temporary files goes with the run: a bridge that a test kills leaves as much behind
// as any other.
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const MADE = 'SANDBRIDGE_TEST_FOLDER'

/**
 * The path of a Unix domain socket has a hundred bytes, and homes of tests hold some: a longer TMPDIR, as that of
 * macOS, leaves no room.
 */
const MAX_CHARS = 24

function shortFolder(): string {
  const given = realpathSync(tmpdir())
  return given.length <= MAX_CHARS || process.platform === 'win32' ? given : realpathSync('/tmp')
}

/** Called for each project of a run, of which the first one makes it. */
export default function ownTemporaryFolder(): (() => void) | undefined {
  if (process.env[MADE] !== undefined) return undefined
  const folder = mkdtempSync(path.join(shortFolder(), 't-'))
  // As the folder that it is in: some sandboxes run as another user.
  chmodSync(folder, 0o1777)
  for (const name of [MADE, 'TMPDIR', 'TEMP', 'TMP']) process.env[name] = folder
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}
